package bench

import (
	"errors"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// team makes the partitions of a send ready, in as many chunks as it has
// goroutines. The caller's is one of them. Not safe for concurrent use.
type team struct {
	p    *mpi.Partitioned
	work []chan chunk // of the others
	errs []error      // of the others; theirs until join
	busy sync.WaitGroup
}

// chunk is the partitions from first to last, the last one included.
type chunk struct{ first, last int }

func newTeam(p *mpi.Partitioned, goroutines int) *team {
	others := max(goroutines, 1) - 1
	t := &team{p: p, work: make([]chan chunk, others), errs: make([]error, others)}
	for g := range t.work {
		t.work[g] = make(chan chunk, 1)
		go func() {
			for c := range t.work[g] {
				t.errs[g] = t.p.ReadyRange(c.first, c.last)
				t.busy.Done()
			}
		}()
	}
	return t
}

// ready makes the first n partitions ready. The others of the team may be at it
// until join.
func (t *team) ready(n int) error {
	all := len(t.work) + 1
	for g, work := range t.work {
		if c := part(n, g+1, all); c.first <= c.last {
			t.busy.Add(1)
			work <- c
		}
	}
	if c := part(n, 0, all); c.first <= c.last {
		return t.p.ReadyRange(c.first, c.last)
	}
	return nil
}

// join waits for the others and returns their errors.
func (t *team) join() error {
	if len(t.work) == 0 {
		return nil
	}
	t.busy.Wait()
	return errors.Join(t.errs...)
}

// close ends the goroutines. They are at rest: join has returned.
func (t *team) close() {
	for _, work := range t.work {
		close(work)
	}
}

// part is chunk k of all that n partitions are cut into; it may be empty.
func part(n, k, all int) chunk { return chunk{n * k / all, n*(k+1)/all - 1} }
