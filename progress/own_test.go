package progress

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
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
				for !o.take() {
					runtime.Gosched()
				}
				counter++
				o.give()
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
