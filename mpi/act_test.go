package mpi_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// sizes has a length in bytes for every way that a message can take: alone in a
// packet with nothing in it, inside a line, in a packet, in chunks, announced.
var sizes = []int{0, 8, 4000, 10_000, 100_000}

// withAndWithoutThread runs a test with the progress thread and without.
func withAndWithoutThread(t *testing.T, f func(t *testing.T, fabric string, opts ...mpi.Option)) {
	onEach(t, func(t *testing.T, fabric string) {
		t.Run("thread", func(t *testing.T) { f(t, fabric) })
		t.Run("no thread", func(t *testing.T) { f(t, fabric, mpi.WithoutProgressThread()) })
	})
}

// act is run for ranks that make their calls inside ok and get: the first
// error ends the rank.
func act(t *testing.T, fabric string, n int, f func(w *mpi.World, c *mpi.Comm), opts ...mpi.Option) {
	t.Helper()
	run(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error { return attempt(func() { f(w, c) }) }, opts...)
}

// failed is how ok ends its goroutine.
type failed struct{ err error }

// attempt calls f and returns the error that has ended it.
func attempt(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			end, known := p.(failed)
			if !known {
				panic(p)
			}
			err = end.err
		}
	}()
	f()
	return nil
}

func ok(err error) {
	if err != nil {
		stop(err)
	}
}

func get[T any](v T, err error) T {
	if err != nil {
		stop(err)
	}
	return v
}

func stop(err error) {
	_, file, line, _ := runtime.Caller(2)
	panic(failed{fmt.Errorf("%s:%d: %w", filepath.Base(file), line, err)})
}

// aside calls f in a goroutine; join waits for its end.
func aside(f func()) (join func()) {
	done := make(chan error, 1)
	go func() { done <- attempt(f) }()
	return func() { ok(<-done) }
}

// signal lets one rank, or goroutine, wait for another outside of the library.
type signal struct {
	given chan struct{}
	pipe  *os.File // between ranks that are processes
}

// newSignal is called by all ranks that are processes, in the same order.
func newSignal() signal {
	if team != nil {
		return signal{pipe: team.newPipe()}
	}
	return signal{given: make(chan struct{}, 64)}
}

func (s signal) give() {
	if s.pipe == nil {
		s.given <- struct{}{}
		return
	}
	_, err := s.pipe.Write([]byte{1})
	ok(err)
}

func (s signal) take() {
	if s.pipe != nil {
		ok(s.pipe.SetReadDeadline(time.Now().Add(patience)))
		_, err := s.pipe.Read(make([]byte, 1))
		ok(err)
		return
	}
	select {
	case <-s.given:
	case <-time.After(patience):
		stop(fmt.Errorf("the signal never came"))
	}
}

// openPipe opens a named pipe, which it makes unless another process has.
func openPipe(name string) (*os.File, error) {
	if err := syscall.Mkfifo(name, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// begin starts one operation out of several.
func begin(r mpi.Request, err error) *mpi.Request {
	if err != nil {
		stop(err)
	}
	return &r
}

// pingpong sends a message to the other rank of two and has it sent back: all
// that was on its way before has come then.
func pingpong(c *mpi.Comm, tag int) {
	other := 1 - c.Rank()
	if c.Rank() == 0 {
		ok(mpi.Send(c, []byte{1}, other, tag))
	}
	get(mpi.Recv(c, make([]byte, 1), other, tag))
	if c.Rank() == 1 {
		ok(mpi.Send(c, []byte{1}, other, tag))
	}
}

// settle is for a rank without a progress thread to which nobody sends: when it
// returns, nothing polls for the rank until its next call. What polled for a call
// that has returned may do so a few times more, and each of these calls either takes
// one of those or finds that they are over.
func settle(c *mpi.Comm) {
	for range 64 {
		_, _, err := mpi.Iprobe(c, 1-c.Rank(), unsent)
		ok(err)
	}
}

// unsent is a tag that no message has.
const unsent = 77

// isEmpty checks for the status of null requests.
func isEmpty(t *testing.T, what string, st mpi.Status) {
	t.Helper()
	if st != (mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}) {
		t.Errorf("%s: status %+v, want an empty one", what, st)
	}
}

// ordered is the map by its keys, the same on every rank.
func ordered[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// beginParts begins a round of a partitioned operation.
func beginParts(p *mpi.Partitioned, err error) *mpi.Request {
	if err != nil {
		p = new(mpi.Partitioned)
	}
	return begin(p.Request, err)
}
