package diagnose

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// quit holds the functions of OnQuit. ch is nil while there are none.
var quit struct {
	sync.Mutex
	reports map[*func()]struct{}
	ch      chan os.Signal
}

// OnQuit calls report when the process gets a SIGQUIT, until cancel is called.
// The functions of all ranks of the process are called one after another. Then
// the signal goes back to the Go runtime, which prints the stacks of all
// goroutines and exits. cancel may be called more than once, and waits for
// reports that are under way. Local.
func OnQuit(report func()) (cancel func()) {
	q := &quit
	q.Lock()
	defer q.Unlock()
	if q.reports == nil {
		q.reports = map[*func()]struct{}{}
	}
	q.reports[&report] = struct{}{}
	if q.ch == nil {
		q.ch = make(chan os.Signal, 1)
		signal.Notify(q.ch, syscall.SIGQUIT)
		go awaitQuit(q.ch)
	}
	return func() {
		q.Lock()
		defer q.Unlock()
		delete(q.reports, &report)
		if len(q.reports) == 0 && q.ch != nil {
			signal.Stop(q.ch)
			close(q.ch)
			q.ch = nil
		}
	}
}

// awaitQuit reports and raises the signal again, now for the runtime: on this
// thread, since a thread that runs C can't tell of the goroutines.
func awaitQuit(ch chan os.Signal) {
	if _, ok := <-ch; !ok {
		return
	}
	quit.Lock()
	for report := range quit.reports {
		(*report)()
	}
	quit.Unlock()
	signal.Reset(syscall.SIGQUIT)
	runtime.LockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGQUIT)
}
