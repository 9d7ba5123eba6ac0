package progress

import (
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
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
	network := mem.NewNetwork(1)
	d, err := network.Provider().Open(fabric.Config{Size: 1, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	z := &shift{Domain: d}
	l := New(Config{Domain: z, Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler), NoThread: true})
	z.s = &toy{l: l, waiting: map[*Request]bool{}}
	l.Handle(z.s, question, answer)

	var wg sync.WaitGroup
	wait := func(note **Request) {
		var r *Request
		for !l.Enter() {
			runtime.Gosched()
		}
		r = l.New()
		r.Kind = forever
		l.Begin(z.s, r)
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
