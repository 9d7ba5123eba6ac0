package launch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/weft-mpi/weft/mpi/cause"
)

// MaxExchange is the most bytes that one rank may bring to one Exchange.
const MaxExchange = 64 << 10

// Values of Job.Launcher.
const (
	LauncherWeft = "weft" // Launch, on this machine or through an agent
	LauncherRoot = "root" // one that has set variables only: the ranks have met at rank 0
	LauncherPMI1 = "pmi1" // a process manager that speaks PMI-1
	LauncherNone = "none" // no launcher: a world of one
)

// Key is a secret of 256 random bits, the same on all ranks of a job, with
// which transports authenticate one another. It prints as "redacted".
type Key [32]byte

// Format implements fmt.Formatter: no verb prints the key.
func (Key) Format(s fmt.State, _ rune) { s.Write([]byte("redacted")) }

// MarshalText implements encoding.TextMarshaler, so that logs stay clean too.
func (Key) MarshalText() ([]byte, error) { return []byte("redacted"), nil }

// Job is this process's place in its job. The fields are set by Discover and
// do not change; the methods are safe for concurrent use.
type Job struct {
	Rank, Size int
	ID         string // 128 random bits in hex: the same on all ranks, another in every job
	Key        Key
	LocalRanks []int    // ranks on this host, this one included, in ascending order
	Hosts      []uint32 // host of each rank, numbered from 0 in the order of their lowest ranks
	Cores      int      // cores that the local ranks may run on, all together
	Launcher   string   // LauncherWeft, LauncherRoot, LauncherPMI1 or LauncherNone

	boot   bootstrap
	events chan Event // closed by Close

	mu     sync.Mutex // held by Exchange and Close
	broken error      // why boot can no longer exchange
	closed bool
}

// Event says that a rank has died; see Job.Events.
type Event struct {
	Rank int
	Err  error // a *LostError
}

// bootstrap is a rank's connection to its launcher, or alone in its place.
// Calls of exchange and leave do not overlap.
type bootstrap interface {
	// exchange borrows mine until it returns. An error that leaves the
	// connection out of step with the launcher is final.
	exchange(ctx context.Context, mine []byte) ([][]byte, error)
	// leave tells the launcher that this rank leaves in order. inStep is false
	// after an exchange that failed. After leave the job's events get nothing
	// more.
	leave(inStep bool) error
	// abort asks the launcher to end all ranks and does not wait until it has.
	// It may be called at any time, during another call and after leave too.
	abort(code byte, why string) error
}

// Oversubscribed reports whether this host has more ranks than cores for them.
func (j *Job) Oversubscribed() bool { return len(j.LocalRanks) > j.Cores }

// Exchange gives every rank the bytes of every rank, indexed by rank. It is
// collective: all ranks call it the same number of times. It blocks until all
// have called it, until ctx ends, or until a rank has left without calling it
// (a *LostError under the local launcher; a PMI-1 process manager kills the
// job). After an error the job cannot exchange any more. mine is at most
// MaxExchange bytes and is borrowed until Exchange returns; the result belongs
// to the caller.
func (j *Job) Exchange(ctx context.Context, mine []byte) ([][]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, ErrClosed
	case j.broken != nil:
		return nil, fmt.Errorf("launch: exchange after one that failed: %w", j.broken)
	case len(mine) > MaxExchange:
		return nil, ErrTooLong
	case ctx.Err() != nil:
		return nil, fmt.Errorf("launch: exchange: %w", ended(ctx))
	}
	all, err := j.boot.exchange(ctx, mine)
	if err != nil {
		if lost, ok := errors.AsType[*cause.LostError](err); ok {
			err = lost
		} else {
			err = fmt.Errorf("launch: exchange: %w", err)
		}
		j.broken = err
		return nil, err
	}
	return all, nil
}

// Events reports ranks that have died, each once and at once, including those
// that died before this rank joined the job. A rank has died when a signal has
// killed its process, or when the process has exited with another code than 0
// or before Close. A rank that has closed its Job and then exits with code 0 is
// no event. The channel is the same at each call and closed by Close. It has
// room for all events of the job, so a rank that does not read it delays no
// other. The launcher of this package reports all deaths, and rank 0 of a job of WEFT_ROOT
// those of ranks whose connection to it ends, its own included, from which on it reports
// no others. PMI-1 reports none. Local.
func (j *Job) Events() <-chan Event { return j.events }

// Abort ends every rank of the job, this one included, whatever they are doing.
// The launcher exits with the exit code code, 0 to 255; any other counts as 255.
// The local launcher puts why, up to 1024 bytes of it, into the *AbortError of
// Launch.Run. It sends SIGTERM at once, and SIGKILL a KillGrace later. A PMI-1
// process manager gets the code only. In a job of WEFT_ROOT the other ranks get SIGTERM,
// and SIGKILL two seconds later, and the caller exits. Without a launcher Abort returns
// nil, and the caller exits.
//
// Abort returns when the request has been sent, before the launcher has acted,
// in a few seconds at most. After Close the error is ErrClosed; any other means
// that the launcher can't be reached. Abort may be called at any time, also
// during an Exchange and after a failed one.
func (j *Job) Abort(code int, why string) error {
	if code < 0 || code > 255 {
		code = 255
	}
	err := j.boot.abort(byte(code), why)
	switch {
	case errors.Is(err, net.ErrClosed):
		return ErrClosed
	case err != nil:
		return fmt.Errorf("launch: abort: %w", err)
	}
	return nil
}

// Blame tells the launcher that this process hears of another rank's failure, before it
// may fail for that reason: Launch.Run puts its failure behind that rank's, whichever
// process ends first. The first call counts. It blocks for a few seconds at most.
func (j *Job) Blame(rank int) {
	if b, can := j.boot.(interface{ blame(rank int) }); can && rank != j.Rank {
		b.blame(rank)
	}
}

// Close tells the launcher that this rank leaves the job in order. It waits for
// an Exchange in progress, then blocks for a few seconds at most. Later calls
// do nothing.
func (j *Job) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	defer close(j.events)
	if err := j.boot.leave(j.broken == nil); err != nil {
		return fmt.Errorf("launch: leave the job: %w", err)
	}
	return nil
}

// newIdentity makes the id and the key of a new job.
func newIdentity() (id [16]byte, key Key) {
	rand.Read(id[:]) // crypto/rand.Read never fails
	rand.Read(key[:])
	return id, key
}

// worldOfOne is the job of a process without a launcher.
func worldOfOne() (*Job, error) {
	cores, err := AllowedCores()
	if err != nil {
		return nil, err
	}
	id, key := newIdentity()
	return &Job{
		Rank: 0, Size: 1,
		ID: hex.EncodeToString(id[:]), Key: key,
		LocalRanks: []int{0},
		Hosts:      []uint32{0},
		Cores:      len(cores),
		Launcher:   LauncherNone,
		boot:       alone{},
		events:     make(chan Event),
	}, nil
}

// alone is the bootstrap of a world of one.
type alone struct{}

func (alone) exchange(_ context.Context, mine []byte) ([][]byte, error) {
	return [][]byte{append([]byte{}, mine...)}, nil
}

func (alone) leave(bool) error { return nil }

func (alone) abort(byte, string) error { return nil }
