package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
)

// rankFD is the number of a rank's socket: the first after standard error.
const rankFD = 3

// child is one started rank, as its launcher sees it.
type child struct {
	rank    int
	pid     int
	pidfd   *os.File // non-blocking, so that waiting takes no thread
	conn    *net.UnixConn
	session *session
	exited  chan struct{} // closed once the process has been reaped
	served  chan struct{} // closed once the session's serve has returned

	mu     sync.Mutex
	reaped bool   // pid may be another process's by now
	told   bool   // told to exit while it still ran
	order  uint64 // of its exit among the job's events
	ends   *atomic.Uint64
}

// spawn starts the ranks, sends the outcome to started, and waits for release,
// which is closed when all have exited. It keeps one thread throughout: the
// kernel ties PR_SET_PDEATHSIG to the thread that forked (prctl(2)), and the
// affinity that a rank inherits is that of this thread.
func (c *crew) spawn(ctx context.Context, started chan<- error, release <-chan struct{}) {
	runtime.LockOSThread()
	own := unix.NewCPUSet(maxCPUs)
	err := readAffinity(0, own)
	if c.slack > 0 {
		setTimerSlack(uintptr(c.slack))
	}
	for i := 0; i < len(c.numbers) && err == nil; i++ {
		rank := c.numbers[i]
		if ctx.Err() != nil {
			err = fmt.Errorf("launch: %w", ended(ctx))
			break
		}
		if err = c.start(i, rank); err != nil {
			err = fmt.Errorf("launch: start rank %d (%s): %w", rank, c.path, tooManyFiles(err, len(c.numbers), i))
		}
	}
	c.in.started()
	if c.slack > 0 {
		setTimerSlack(0)
	}
	restored := !c.bound || unix.SchedSetaffinityDynamic(0, own) == nil
	started <- err
	<-release
	if restored {
		runtime.UnlockOSThread()
	} // else the thread, bound to one core, ends with its goroutine
}

// start starts one rank, the i-th of this host, on the calling thread.
func (c *crew) start(i, rank int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open its socket: %w", limits.Call("socketpair", err))
	}
	defer unix.Close(pair[1])
	conn, err := unixConn(pair[0], "rank")
	if err != nil {
		return fmt.Errorf("open its socket: %w", err)
	}
	pid, pidfd, err := c.fork(i, rank, pair[1])
	if err != nil {
		conn.Close()
		return err
	}
	greet := c.greet
	greet.rank = uint32(rank)
	exited := make(chan struct{})
	s := newSession(conn, greet, c.meet, c.news, exited)
	if c.left != nil {
		s.onLeave = func(from uint64, reason string) { c.left(rank, from, reason) }
	}
	c.ranks = append(c.ranks, &child{
		rank: rank, pid: pid, pidfd: pidfd,
		conn:    conn,
		session: s,
		exited:  exited,
		served:  make(chan struct{}),
		ends:    &c.ends,
	})
	return nil
}

// unixConn is the connection of a descriptor, which it owns, also on an error.
func unixConn(fd int, name string) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	conn, err := net.FileConn(f) // a duplicate
	if err != nil {
		return nil, limits.Named(err)
	}
	return conn.(*net.UnixConn), nil
}

// fork starts the program of one rank, the i-th of this host, with sock as its descriptor rankFD.
func (c *crew) fork(i, rank, sock int) (pid int, pidfd *os.File, err error) {
	files := []uintptr{c.null.Fd(), 0, 0, uintptr(sock)}
	if rank == 0 {
		files[0] = uintptr(c.in.fd)
	}
	for stream, s := range []sink{c.out, c.err} {
		fd, owned, err := s.attach(rank)
		if err != nil {
			return 0, nil, err
		}
		if owned {
			defer unix.Close(fd)
		}
		files[1+stream] = uintptr(fd)
	}
	if c.bound {
		core := c.cores[i%len(c.cores)]
		err := limits.Call("sched_setaffinity", bindThread(core))
		switch {
		case limits.Refused(err):
			c.bound = false
			unix.Write(int(files[2]), fmt.Appendf(nil, "weft: the ranks of this host are not bound to cores: %v\n", err))
		case err != nil:
			return 0, nil, fmt.Errorf("bind to core %d: %w (--bind none, BindNone, leaves the ranks unbound)", core, err)
		}
	}
	raw := -1
	pid, _, err = syscall.StartProcess(c.path, c.argv, &syscall.ProcAttr{
		Env: append(c.env[:len(c.env):len(c.env)],
			envFD+"="+strconv.Itoa(rankFD),
			envRank+"="+strconv.Itoa(rank),
			envSize+"="+strconv.Itoa(c.size)),
		Files: files,
		Sys: &syscall.SysProcAttr{
			Pdeathsig: syscall.SIGKILL,
			Setpgid:   true,
			PidFD:     &raw,
		},
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = fmt.Errorf("%w: the limit on processes is reached (ulimit -u, or pids.max of the cgroup)", err)
	}
	if limits.Refused(err) { // of which call the child does not say
		err = fmt.Errorf("%w; %s", err, limits.Allow("clone, prctl, setpgid, dup3 and execve"))
	}
	if err != nil {
		return 0, nil, err
	}
	if raw >= 0 {
		err = unix.SetNonblock(raw, true)
	} else {
		err = errors.New("this kernel has no pidfd, Weft needs Linux 5.4")
	}
	if err != nil {
		unix.Kill(-pid, unix.SIGKILL)
		unix.Wait4(pid, nil, 0, nil)
		return 0, nil, err
	}
	return pid, os.NewFile(uintptr(raw), "pidfd"), nil
}
