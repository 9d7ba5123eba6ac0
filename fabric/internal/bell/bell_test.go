package bell

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

func open(t *testing.T, take func(int), watched ...Watch) *Bell {
	t.Helper()
	b := new(Bell)
	t.Cleanup(b.Close)
	if err := b.Open(watched, take); err != nil {
		t.Fatal(err)
	}
	return b
}

// never is closed.
var never = new(atomic.Bool)

type sleep = func(b *Bell, timeout time.Duration, closed *atomic.Bool) error

// eachSleep runs a test for both ways to sleep.
func eachSleep(t *testing.T, test func(*testing.T, sleep)) {
	t.Run("Wait", func(t *testing.T) { test(t, (*Bell).Wait) })
	t.Run("Sleep", func(t *testing.T) { test(t, (*Bell).Sleep) })
}

func TestASleepAllocatesNothing(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep sleep) {
		b := open(t, func(int) {})
		for _, timeout := range []time.Duration{0, patience} {
			allocs := testing.AllocsPerRun(100, func() {
				b.Ring()
				if err := sleep(b, timeout, never); err != nil {
					t.Fatal(err)
				}
			})
			if allocs != 0 && !raceEnabled {
				t.Errorf("with timeout %v: %v allocations", timeout, allocs)
			}
		}
	})
}

// The shortest of many sleeps shows what the timeout is rounded to. Go's poller
// rounds that of Wait to milliseconds.
func TestSleepIsNotRoundedToMilliseconds(t *testing.T) {
	const timeout = 50 * time.Microsecond
	b := open(t, func(int) {})
	shortest := patience
	for range 200 {
		start := time.Now()
		if err := b.Sleep(timeout, never); err != nil {
			t.Fatal(err)
		}
		shortest = min(shortest, time.Since(start))
	}
	if shortest < timeout || shortest >= time.Millisecond {
		t.Errorf("the shortest of 200 sleeps of %v took %v", timeout, shortest)
	}
}

// A ring that nobody has taken ends the next sleep, of either kind, and one
// sleep only.
func TestARingEndsOneSleep(t *testing.T) {
	for _, first := range []sleep{(*Bell).Wait, (*Bell).Sleep} {
		eachSleep(t, func(t *testing.T, sleep sleep) {
			b := open(t, func(int) {})
			for range 20 {
				b.Ring()
				b.Ring()
				if err := first(b, 0, never); err != nil {
					t.Fatal(err)
				}
				const nap = time.Millisecond
				start := time.Now()
				if err := sleep(b, nap, never); err != nil {
					t.Fatal(err)
				}
				if time.Since(start) < nap {
					t.Error("a ring is heard again")
				}
			}
		})
	}
}

func TestAClosedOwnerDoesNotSleep(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep sleep) {
		closed := new(atomic.Bool)
		closed.Store(true)
		if err := sleep(open(t, func(int) {}), 0, closed); err != fabric.ErrClosed {
			t.Error(err)
		}
	})
}

// pipe is a descriptor to watch, and what makes it readable.
func pipe(t *testing.T) (r, w int) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// A descriptor with EPOLLONESHOT rings once for each Modify, also for what came
// before it.
func TestAOneShotRingsForEachModify(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep sleep) {
		r, w := pipe(t)
		rang := 0
		b := open(t, func(fd int) {
			if fd == r {
				rang++
			}
		}, Watch{r, unix.EPOLLONESHOT})
		unix.Write(w, []byte{1})
		for i := range 5 {
			if err := sleep(b, patience, never); err != nil || rang != i+1 {
				t.Fatalf("rang %d times in the place of %d, %v", rang, i+1, err)
			}
			sleep(b, time.Millisecond, never)
			if rang != i+1 {
				t.Fatal("rings though it is not armed")
			}
			if err := b.Modify(Watch{r, unix.EPOLLONESHOT}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Close waits for who sleeps, until nothing of the doorbell is in use.
func TestCloseWaitsForTheSleeper(t *testing.T) {
	eachSleep(t, func(t *testing.T, sleep sleep) {
		r, w := pipe(t)
		within, goOn := make(chan struct{}), make(chan struct{})
		var once, closing atomic.Bool
		b := open(t, func(int) {
			if !once.Swap(true) {
				close(within)
				<-goOn
			}
		}, Watch{r, 0})
		unix.Write(w, []byte{1})
		slept, closed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(slept)
			for !closing.Load() {
				if err := sleep(b, 0, &closing); err != nil && err != fabric.ErrClosed {
					t.Error(err)
				}
			}
		}()
		<-within
		go func() { closing.Store(true); b.Ring(); b.Close(); close(closed) }()
		for b.raw.Control(func(uintptr) {}) == nil { // until Close comes to it
			runtime.Gosched()
		}
		for range 10000 { // Close could go on by now
			runtime.Gosched()
		}
		select {
		case <-closed:
			t.Error("Close does not wait")
		default:
		}
		close(goOn)
		<-slept
		<-closed
	})
}
