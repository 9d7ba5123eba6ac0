package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/mpi/cause"
	"golang.org/x/sys/unix"
)

// leaveTimeout bounds Job.Close against a launcher that does not reply.
const leaveTimeout = 5 * time.Second

// consumed is set once Discover has removed the launcher's variables from the
// environment: from then on an empty environment does not mean that the process
// is alone. The mutex admits one Discover at a time. yes is stored before the
// variables are removed (consume) and loaded after they were read (Launched),
// so that Launched sees the variables or yes.
var consumed struct {
	sync.Mutex
	yes atomic.Bool
}

// Discover finds the job that this process is a rank of; doc.go lists the ways,
// in order. It is collective: the ranks tell each other where they run, so it
// blocks until every rank has called it or ctx ends. Under the local launcher it
// returns a *LostError if a rank is gone that has not called it.
//
// From then on, and after Close, the process ends when the local launcher has ended
// without it: with words on standard error, by SIGTERM, and SIGKILL two seconds later.
//
// Discover removes what it uses: the launcher's socket becomes close-on-exec
// and its variables are removed from the environment, so that programs started
// by a rank do not take themselves for that rank. A process in a launched job
// can therefore call it once; later calls return ErrDiscovered. Errors about
// the environment are *EnvError.
func Discover(ctx context.Context) (*Job, error) {
	consumed.Lock()
	defer consumed.Unlock()
	if consumed.yes.Load() {
		return nil, cause.ErrDiscovered
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("launch: discover: %w", ended(ctx))
	}
	get := lookup(os.LookupEnv)
	if alone, err := wantsNone(get); alone || err != nil {
		if err != nil {
			return nil, err
		}
		return worldOfOne()
	}
	if _, ok := get("PMI_FD"); ok {
		return discoverPMIFD(ctx, get)
	}
	if addr, ok := get("PMI_PORT"); ok {
		return discoverPMIPort(ctx, get, addr)
	}
	if _, ok := get(envFD); ok {
		if err := foreignRanks(get); err != nil {
			return nil, err
		}
		return discoverWeft(ctx, get)
	}
	if _, ok := get(envRoot); ok {
		return discoverRoot(ctx, get)
	}
	if err := severalRanks(get); err != nil {
		return nil, err
	}
	return worldOfOne()
}

// Launched reports whether a launcher has started this process: whether
// Discover would join a job, or has tried to. It removes no variables. The
// error is that of Discover for an environment that indicates several ranks and
// offers no bootstrap. Local.
func Launched() (bool, error) {
	get := lookup(os.LookupEnv)
	if alone, err := wantsNone(get); alone || err != nil {
		return false, err
	}
	for _, way := range []string{"PMI_FD", "PMI_PORT", envFD, envRoot} {
		if _, ok := get(way); ok {
			return true, nil
		}
	}
	if consumed.yes.Load() {
		return true, nil
	}
	return false, severalRanks(get)
}

// CheckEnviron returns an *EnvError if WEFT_BOOT has a value that it can't have. Local.
func CheckEnviron() error {
	_, err := wantsNone(os.LookupEnv)
	return err
}

// wantsNone reports whether the user wants no launcher.
func wantsNone(get lookup) (bool, error) {
	switch v, _ := get(envBoot); v {
	case "":
		return false, nil
	case "none":
		return true, nil
	default:
		return false, &cause.EnvError{Var: envBoot, Value: v, Err: errors.New("unknown value"), Remedy: `the only one is "none"`}
	}
}

// consume removes the variables of a launcher from the environment.
func consume(names ...string) {
	consumed.yes.Store(true)
	for _, n := range names {
		os.Unsetenv(n) // fails for invalid names only
	}
}

func discoverWeft(ctx context.Context, get lookup) (*Job, error) {
	rank, err := number(get, envRank, 0)
	if err != nil {
		return nil, err
	}
	size, err := number(get, envSize, 1)
	if err == nil && size > MaxRanks {
		err = &cause.EnvError{Var: envSize, Value: strconv.Itoa(size), Err: fmt.Errorf("more than %d ranks", MaxRanks), Remedy: anyRemedy}
	}
	if err != nil {
		return nil, err
	}
	conn, err := inheritedConn(get, envFD)
	if err != nil {
		return nil, err
	}
	consume(envFD, envRank, envSize)
	j, err := joinLauncher(ctx, conn, rank, size)
	if lost, ok := errors.AsType[*cause.LostError](err); ok {
		return nil, lost
	}
	if err != nil {
		return nil, fmt.Errorf("launch: join the launcher of rank %d: %w", rank, err)
	}
	return j, nil
}

func discoverPMIFD(ctx context.Context, get lookup) (*Job, error) {
	rank, err := number(get, "PMI_RANK", 0)
	if err != nil {
		return nil, err
	}
	size, err := number(get, "PMI_SIZE", 1)
	if err != nil {
		return nil, err
	}
	conn, err := inheritedConn(get, "PMI_FD")
	if err != nil {
		return nil, err
	}
	consume(pmiVars...)
	return joinPMI(ctx, newPMIClient(conn), rank, size)
}

func discoverPMIPort(ctx context.Context, get lookup, addr string) (*Job, error) {
	id, err := number(get, "PMI_ID", 0)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, &cause.EnvError{Var: "PMI_PORT", Value: addr, Err: err, Remedy: anyRemedy}
	}
	consume(pmiVars...)
	c := newPMIClient(conn)
	rank, size, err := c.initack(ctx, id)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("launch: join over PMI_PORT: %w", err)
	}
	return joinPMI(ctx, c, rank, size)
}

// inheritedConn returns a connection over the socket whose descriptor a
// variable holds. No child inherits the connection, and the descriptor is
// closed.
func inheritedConn(get lookup, name string) (net.Conn, error) {
	v, _ := get(name)
	bad := func(err error) error {
		return &cause.EnvError{Var: name, Value: v, Err: err,
			Remedy: cmp.Or(limits.Remedy(err), "a wrapper between launcher and rank may have closed the socket; "+anyRemedy)}
	}
	fd, err := strconv.Atoi(v)
	if err != nil || fd < 3 {
		return nil, bad(errors.New("not a file descriptor above 2"))
	}
	if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return nil, bad(fmt.Errorf("file descriptor %d is no socket: %w", fd, err))
	}
	unix.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	conn, err := net.FileConn(f) // a duplicate, close-on-exec from the start
	if err != nil {
		return nil, bad(err)
	}
	return conn, nil
}

// within runs f, and makes its reads or writes on a connection fail once ctx
// ends. setDeadline is the connection's method for those that are to fail. An
// interrupted connection may be out of step with its peer.
func within(ctx context.Context, setDeadline func(time.Time) error, f func() error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		setDeadline(time.Unix(1, 0))
		close(fired)
	})
	err := f()
	if !stop() {
		<-fired
		setDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ended(ctx)
		}
	}
	return err
}
