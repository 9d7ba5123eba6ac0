package progress

import (
	"runtime"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// shift is a domain that ends the waits of two goroutines, the second first,
// and counts which of them polls meanwhile.
type shift struct {
	fabric.Domain
	s             *toy
	first, second *Request
	polls, taken  int
}

func (d *shift) Poll(fabric.Handler, int) int {
	l := d.s.l
	if d.second == nil || l.poller == nil {
		return 0
	}
	if d.polls++; d.s.waiting[d.second] {
		if l.poller.single == d.second {
			d.taken++
		}
		if d.taken == 10 || d.polls == 2000 {
			delete(d.s.waiting, d.second)
			d.s.finish(d.second)
			return 1
		}
	} else if l.poller.single == d.first && d.s.waiting[d.first] {
		delete(d.s.waiting, d.first)
		d.s.finish(d.first)
		return 1
	}
	return 0
}

// Where one processor runs all goroutines, a goroutine that begins to wait polls
// instead of the one that waits already, and that one goes on afterwards.
func TestWhoBeginsToWaitTakesPollingOver(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var z *shift
	l := lone(t, func(d fabric.Domain, s *toy) fabric.Domain {
		z = &shift{Domain: d, s: s}
		return z
	})

	var wg sync.WaitGroup
	wait := func(note **Request) {
		for !l.Enter() {
			runtime.Gosched()
		}
		r := z.s.beginForever()
		*note = r
		if _, err := l.Await(r); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() { wait(&z.first) })
	for polling := false; !polling; {
		runtime.Gosched()
		if l.Enter() {
			polling = l.poller != nil
			l.Leave()
		}
	}
	wg.Go(func() { wait(&z.second) })
	wg.Wait()
	if z.taken < 10 {
		t.Errorf("the second goroutine polled %d of %d times", z.taken, z.polls)
	}
}
