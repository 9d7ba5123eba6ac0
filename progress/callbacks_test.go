package progress

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// keepOwning has the loop owned most of the time, by the calling goroutine, until over
// reports true.
func (l *Loop) keepOwning(over func() bool) {
	for end := false; !end; {
		l.Exclusive(func() {
			for since := time.Now(); time.Since(since) < 20*time.Microsecond; {
			}
			end = over()
		})
		runtime.Gosched()
	}
}

// callBack has fn called by the goroutine of callbacks.
func (s *toy) callBack(fn func()) {
	r := s.shared(forever, 0, 1, nil)
	h := r.Handle()
	s.l.Submit(s, r)
	OnEnd(&h, func(Status, error) { fn() })
	s.l.Exclusive(func() { s.finish(r) })
}

// Close is told apart from a Close within a callback whichever goroutine owns the loop: one
// within a callback does not wait for itself.
func TestACallbackClosesALoopThatAnotherOwns(t *testing.T) {
	for range 20 {
		var s *toy
		l := lone(t, func(d fabric.Domain, of *toy) fabric.Domain { s = of; return d })
		var over atomic.Bool
		ended, owned := make(chan error), make(chan bool)
		go func() {
			defer close(owned)
			l.keepOwning(over.Load)
		}()
		s.callBack(func() { ended <- deep(400, l.Close) })
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("Close waits for the callback that has called it")
		}
		over.Store(true)
		<-owned
	}
}

// deep calls f with so many calls in between.
func deep(n int, f func() error) error {
	if n == 0 {
		return f()
	}
	return deep(n-1, f)
}

func TestCloseWaitsForACallbackThatOwnsTheLoop(t *testing.T) {
	for range 20 {
		var s *toy
		l := lone(t, func(d fabric.Domain, of *toy) fabric.Domain { s = of; return d })
		var ended atomic.Bool
		began := make(chan bool)
		s.callBack(func() {
			close(began)
			l.keepOwning(func() bool { return l.refused })
			rounds := 0
			l.keepOwning(func() bool { rounds++; return rounds > 20 })
			ended.Store(true)
		})
		<-began
		if err := l.Close(); err != nil || !ended.Load() {
			t.Errorf("Close returns %v, and the callback has ended: %t", err, ended.Load())
		}
	}
}
