package mpi

import (
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// WithWatchdog writes a report (World.Report) whenever a goroutine has been
// blocked in one operation for so long. Each such operation is reported once. A
// nil writer is standard error.
func WithWatchdog(after time.Duration, to io.Writer) Option {
	return func(o *options) { o.watch, o.watchTo = after, to }
}

// WithoutSIGQUIT leaves the signal alone. Otherwise Init makes a SIGQUIT write a
// report of each World to standard error, before the Go runtime does with the
// signal what it always does: print the stacks of all goroutines and exit.
func WithoutSIGQUIT() Option { return func(o *options) { o.noSignal = true } }

// watchdog looks now and then how long operations have been blocked.
type watchdog struct {
	stop chan struct{}
	done sync.WaitGroup
}

func (w *World) startWatchdog(after time.Duration, to io.Writer) {
	if after <= 0 {
		return
	}
	if to == nil {
		to = os.Stderr
	}
	w.dog.stop = make(chan struct{})
	w.dog.done.Go(func() { w.watch(after, to) })
}

func (w *World) stopWatchdog() {
	if w.dog.stop != nil {
		close(w.dog.stop)
		w.dog.done.Wait()
	}
}

func (w *World) watch(after time.Duration, to io.Writer) {
	t := time.NewTicker(max(after/4, time.Millisecond))
	defer t.Stop()
	type sight struct {
		first    time.Time
		reported bool
	}
	seen := map[uint64]sight{}
	for {
		select {
		case <-w.dog.stop:
			return
		case <-t.C:
		}
		now, late := time.Now(), false
		blocked := map[uint64]sight{}
		w.comm.p2p.Blocked(func(op uint64) {
			s, known := seen[op]
			if !known {
				s.first = now
			}
			if !s.reported && now.Sub(s.first) >= after {
				s.reported, late = true, true
			}
			blocked[op] = s
		})
		seen = blocked
		if late {
			if err := w.Report(to); err != nil {
				w.log.Error("the watchdog's report can't be written", "err", err)
			}
		}
	}
}

// onQuit holds the Worlds that report on SIGQUIT.
var onQuit struct {
	sync.Mutex
	worlds map[*World]bool
	ch     chan os.Signal
}

func (w *World) reportOnQuit() {
	q := &onQuit
	q.Lock()
	defer q.Unlock()
	if q.worlds == nil {
		q.worlds = map[*World]bool{}
	}
	q.worlds[w] = true
	if q.ch == nil {
		q.ch = make(chan os.Signal, 1)
		signal.Notify(q.ch, syscall.SIGQUIT)
		go awaitQuit(q.ch)
	}
}

func (w *World) noReportOnQuit() {
	q := &onQuit
	q.Lock()
	defer q.Unlock()
	delete(q.worlds, w)
	if len(q.worlds) == 0 && q.ch != nil {
		signal.Stop(q.ch)
		close(q.ch)
		q.ch = nil
	}
}

// awaitQuit reports and hands the signal back to the runtime: by way of this
// thread, since one that runs C can't tell of the goroutines.
func awaitQuit(ch chan os.Signal) {
	if _, ok := <-ch; !ok {
		return
	}
	onQuit.Lock()
	for w := range onQuit.worlds {
		w.Report(os.Stderr)
	}
	onQuit.Unlock()
	signal.Reset(syscall.SIGQUIT)
	runtime.LockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGQUIT)
}
