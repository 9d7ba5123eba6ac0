package progress

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/membar"
)

// Ownership excludes wherever the threads of the process run, and while others
// move them.
func TestOwnershipExcludesWhileThreadsAreMoved(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	t.Cleanup(func() { moveThreads(t, &all) })
	moveThreads(t, &one)

	const each, goroutines = 50_000, 8
	var o ownership
	counter := 0
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				for !o.take(freeWord) {
					runtime.Gosched()
				}
				counter++
				o.give(freeWord)
			}
		})
	}
	moveThreads(t, &all)
	wg.Wait()
	if counter != each*goroutines {
		t.Errorf("counted %d of %d", counter, each*goroutines)
	}
}

// moveThreads binds all threads that the process has now.
func moveThreads(t *testing.T, set *unix.CPUSet) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil {
			unix.SchedSetaffinity(tid, set) // one that has ended is no matter
		}
	}
}

// What is queued while an owner gives the word without a fence is done by that owner, or
// by the goroutine that has queued it. Each round is a race of the two.
func TestNothingIsStrandedWhereTheRankIsAlone(t *testing.T) {
	if !membar.CanProcess() {
		t.Skip("the kernel has no expedited membarrier for the process")
	}
	const rounds = 100_000
	l := &Loop{}
	l.parked.init()
	w := newWaiter()
	w.fn = func() { w.ready <- toReturn }
	var met atomic.Int64
	meet := func(n int64) {
		met.Add(1)
		for i := 0; met.Load() < 2*n; i++ {
			if i > 1000 {
				runtime.Gosched()
			}
		}
	}
	var owner sync.WaitGroup
	owner.Go(func() {
		for n := int64(1); n <= 2*rounds; n += 2 {
			l.owned.take(freeWord)
			l.owned.alone.Store(true)
			meet(n)
			l.letGo()
			meet(n + 1)
		}
	})
	stranded := 0
	for n := int64(1); n <= 2*rounds; n += 2 {
		meet(n)
		l.push(&w.node)
		meet(n + 1)
		select {
		case <-w.ready:
		default:
			stranded++
			l.queue.takeAll()
		}
	}
	owner.Wait()
	if stranded > 0 {
		t.Errorf("%d of %d were stranded", stranded, rounds)
	}
}
