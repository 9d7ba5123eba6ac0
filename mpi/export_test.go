package mpi

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/hardware"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Join is Init for tests that make one World after another in one job. The job
// stays the caller's.
func Join(ctx context.Context, job *launch.Job, opts ...Option) (*World, error) {
	in, err := join(ctx, "Init", job, makeOptions(append(opts, WithoutSIGQUIT())))
	if err != nil {
		return nil, err
	}
	in.job = nil
	return in.newWorld(nil)
}

// WithLooks has the ranks compare collective calls that wait every millisecond, and
// not every second.
func WithLooks() Option {
	return func(o *options) {
		o.beat = func(look func()) func() {
			over, ended, often := make(chan struct{}), make(chan struct{}), time.NewTicker(time.Millisecond)
			go func() {
				defer close(ended)
				defer often.Stop()
				for {
					select {
					case <-over:
						return
					case <-often.C:
						look()
					}
				}
			}()
			return func() {
				close(over)
				<-ended
			}
		}
	}
}

// End finalizes the World as Run does: one whose rank has failed dies.
func End(w *World, err error) error {
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		w.abandon()
	}
	return err
}

// GetMinOf is from how many bytes on messages are read from their sender's memory.
func GetMinOf(w *World) int { return w.engine.Loop.Via(0).Caps().RndvMin }

// TransportOf is the transport that another rank of the World is reached over.
func TransportOf(c *Comm, rank int) (name string) {
	l := c.w.engine.Loop
	l.Exclusive(func() { name = l.TransportOf(fabric.Peer(rank)) })
	return name
}

// Fail is how a call of the communicator ends with an error of the layers below.
func Fail(c *Comm, err error) error { return c.fail("Put", err) }

// Classes lists all classes of errors.
func Classes() []Class {
	all := slices.Collect(maps.Keys(classNames))
	return slices.Sorted(slices.Values(slices.AppendSeq(all, maps.Keys(furtherNames))))
}

// ClassesOf lists those that an error is of.
func ClassesOf(err error) (cs []Class) {
	for _, c := range Classes() {
		if errors.Is(err, c) {
			cs = append(cs, c)
		}
	}
	return cs
}

// KeptFreed is how many freed communicators with a handler stay known.
const KeptFreed = keptFreed

// Known is the number of communicators that the World knows for their requests.
func Known(w *World) int {
	w.comms.mu.Lock()
	defer w.comms.mu.Unlock()
	return len(w.comms.of)
}

// Place has the rank's hardware be what root shows to a process on cpus. root is
// /sys/devices/system.
func Place(w *World, root fs.FS, cpus ...int) {
	w.place = func() hardware.Place { return hardware.Find(root, cpus) }
}

// Hosts has the rank take the ranks of the job for ones of these hosts.
func Hosts(w *World, names ...string) { w.hosts = names }

// Reserved is how many context ids are reserved at the rank: of creations under way.
func Reserved(w *World) (n int) {
	w.engine.Loop.Exclusive(func() { n = w.engine.P2P.Reserved() })
	return n
}

// Own calls f as the owner of the rank's loop.
func Own(w *World, f func()) { w.engine.Loop.Exclusive(f) }

// WithoutLooks has no rank compare collective calls.
func WithoutLooks() Option {
	return func(o *options) { o.beat = func(func()) func() { return func() {} } }
}

// Signed is the memory of a Buf that is checked, see WithTypeChecks.
func Signed(b Buf) pt2pt.Data { return b.signed() }

// KeyOf returns the secret of ranks that are goroutines.
func KeyOf(w *World) [32]byte { return w.crew.key }
