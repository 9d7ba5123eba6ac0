package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
	"golang.org/x/sys/unix"
)

// root is what rank 0 is to the ranks of a job whose launcher has set variables only: the
// place where they meet, as a launcher is to ranks that it has started.
type root struct {
	greet welcome // without the rank
	meet  *rendezvous
	news  *news
	ln    net.Listener
	admit func(conn net.Conn) (ready net.Conn, rank int, err error)

	mu       sync.Mutex
	here     []bool // by rank: it has come
	conns    []net.Conn
	closing  bool
	sessions sync.WaitGroup // of the ranks above 0
}

// Limits for those who have not shown that they are of the job.
const (
	maxDoorstep  = 64
	doorstepTime = 10 * time.Second
)

// newRoot begins to listen. The connections are closed by close.
func newRoot(ln net.Listener, size int, admit func(net.Conn) (net.Conn, int, error)) *root {
	r := &root{meet: newRendezvous(size), news: newNews(), ln: ln, admit: admit, here: make([]bool, size)}
	r.greet.size = uint32(size)
	r.greet.id, r.greet.key = newIdentity()
	go r.accept()
	return r
}

func (r *root) accept() {
	places := make(chan struct{}, maxDoorstep)
	for {
		conn, err := r.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // descriptors have run out
			time.Sleep(20 * time.Millisecond)
			continue
		}
		places <- struct{}{}
		go func() {
			conn.SetDeadline(time.Now().Add(doorstepTime))
			ready, rank, err := r.admit(conn)
			<-places
			if err != nil {
				conn.Close() // a stranger, or a rank with another secret: that side says so
				return
			}
			ready.SetDeadline(time.Time{})
			r.serve(ready, rank)
		}()
	}
}

// serve is the life of a rank's connection.
func (r *root) serve(conn net.Conn, rank int) {
	defer conn.Close()
	r.mu.Lock()
	if r.closing || r.here[rank] {
		twice := r.here[rank]
		r.mu.Unlock()
		if twice {
			part(conn, fmt.Errorf("two processes say that they are rank %d: are the numbers those of one job?", rank))
		}
		return
	}
	r.here[rank] = true
	r.conns = append(r.conns, conn)
	if rank > 0 {
		r.sessions.Add(1)
		defer r.sessions.Done()
	}
	r.mu.Unlock()
	greet := r.greet
	greet.rank = uint32(rank)
	s := newSession(conn, greet, r.meet, r.news, nil)
	s.onAbort = func(code byte, why string) {
		r.news.tell(rank, appendFrame(nil, kindAbort, appendAbort(nil, code, why)))
	}
	s.serve()
	if !s.bye {
		reason := "its connection to rank 0 has ended"
		if s.broken != nil {
			reason = s.broken.Error()
		}
		r.news.lost(&cause.LostError{Rank: rank, Reason: reason})
	}
}

// missing are the ranks that have not come.
func (r *root) missing() (ranks []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rank, here := range r.here {
		if !here {
			ranks = append(ranks, strconv.Itoa(rank))
		}
	}
	return ranks
}

// close waits for so long until all ranks that have come have left, and tells the others
// that rank 0 leaves in order.
func (r *root) close(patience time.Duration) {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.ln.Close()
	done := make(chan struct{})
	go func() {
		r.sessions.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-time.After(patience):
	}
	r.news.tell(0, appendFrame(nil, kindBye, nil))
	time.AfterFunc(patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.conns {
			c.Close()
		}
	})
	<-done
}

// rootRank is the bootstrap of rank 0: its own connection, and the place of the others.
type rootRank struct {
	*client
	root *root
}

func (b *rootRank) leave(inStep bool) error {
	err := b.client.leave(inStep)
	b.root.close(leaveTimeout)
	return err
}

// abort returns when the other ranks have been told, as far as they listen: the process
// is about to exit, and the place with it.
func (b *rootRank) abort(code byte, why string) error {
	b.root.news.tell(0, appendFrame(nil, kindAbort, appendAbort(nil, code, why)))
	b.root.close(leaveTimeout)
	return nil
}

// endLast ends this process, rank 0, when the others have ended, or have had their time:
// they hear of the abort from it.
func (r *root) endLast(why string, end func(why string)) {
	r.close(leaveTimeout)
	end(why)
}

// endAborted ends this process because another rank has aborted the job.
func endAborted(why string) { endProcess("another rank ends the job: " + strings.TrimSpace(why)) }

// endProcess ends this process as a launcher does: by SIGTERM, and SIGKILL a while later.
// A program may handle the first. The words may find nobody who reads them, or has room:
// a write by os would then raise SIGPIPE, and one that blocks must not keep the process.
func endProcess(words string) {
	time.AfterFunc(DefaultKillGrace, func() { unix.Kill(os.Getpid(), unix.SIGKILL) })
	unix.Write(unix.Stderr, []byte("weft: "+words+"\n"))
	unix.Kill(os.Getpid(), unix.SIGTERM)
}

// rootTime is how long ranks wait for one another: a batch system may start some of
// them minutes after others.
const rootTime = 10 * time.Minute

// joinRoot meets the other ranks at rank 0, which listens if that is this rank.
func joinRoot(ctx context.Context, at *rootAddress, rank, size int) (*Job, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, rootTime, fmt.Errorf("not all %d ranks have come within %v", size, rootTime))
	defer cancel()
	if rank > 0 {
		conn, err := at.dial(ctx, rank, size)
		if err != nil {
			return nil, fmt.Errorf("launch: meet the ranks at rank 0, %s: %w", at, err)
		}
		j, err := newClient(conn, size, endAborted).join(ctx, rank, LauncherRoot)
		if err != nil {
			return nil, fmt.Errorf("launch: join the job at rank 0, %s: %w", at, err)
		}
		return j, nil
	}
	ln, err := at.listen()
	if err != nil {
		return nil, &cause.EnvError{Var: envRoot, Value: at.text, Err: err, Remedy: "rank 0 listens there: name a free port, and the host that rank 0 is on"}
	}
	r := newRoot(ln, size, at.admit(size))
	mine, its := net.Pipe()
	go r.serve(its, 0)
	c := newClient(mine, size, func(why string) { go r.endLast(why, endAborted) })
	j, err := c.join(ctx, 0, LauncherRoot)
	if err != nil {
		if missing := r.missing(); len(missing) > 0 {
			err = fmt.Errorf("%w; these ranks have not come: %s", err, strings.Join(missing, ", "))
		}
		r.close(0)
		return nil, fmt.Errorf("launch: wait as rank 0 at %s: %w", at, err)
	}
	j.boot = &rootRank{c, r}
	return j, nil
}
