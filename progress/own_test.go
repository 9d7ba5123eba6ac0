package progress

import (
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Where all threads share a core the short instructions exclude one another
// like the locked ones, wherever a goroutine is interrupted.
func TestOwnershipExcludesOnOneCore(t *testing.T) {
	onOneCore(t)
	var o ownership
	if o.init(); o.oneCore != coreLocal {
		t.Fatalf("one core: %t, want %t", o.oneCore, coreLocal)
	}
	hammerOwnership(t, &o)
}

func TestOwnershipExcludesOnManyCores(t *testing.T) {
	hammerOwnership(t, &ownership{})
}

func hammerOwnership(t *testing.T, o *ownership) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const each, goroutines = 50_000, 8
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
	wg.Wait()
	if counter != each*goroutines {
		t.Errorf("counted %d of %d", counter, each*goroutines)
	}
}

// onOneCore binds all threads of the test to one core until it ends.
func onOneCore(t *testing.T) {
	t.Helper()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	var one unix.CPUSet
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	// Threads come and go: until none is found elsewhere.
	for try := 0; !boundToOneCore(); try++ {
		if try == 100 {
			t.Fatal("the threads can't be bound to one core")
		}
		setAffinity(t, &one)
	}
	t.Cleanup(func() { setAffinity(t, &all) })
}

func setAffinity(t *testing.T, set *unix.CPUSet) {
	for _, tid := range threads() {
		unix.SchedSetaffinity(tid, set) // it may have ended
	}
}

func BenchmarkOwnership(b *testing.B) {
	for _, o := range []*ownership{{}, {oneCore: coreLocal}} {
		name := "locked"
		if o.oneCore {
			name = "one core"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if o.take() {
					o.give()
				}
			}
		})
	}
}
