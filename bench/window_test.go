package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// oneSidedBenchmarks are those with windows.
func oneSidedBenchmarks() []*Benchmark {
	return slices.DeleteFunc(All(), func(b *Benchmark) bool { return !b.takes("C") })
}

// small are the options of b with two sizes, validated.
func small(b *Benchmark) Options {
	o := quick(b)
	if !o.Single {
		o.MinSize, o.MaxSize = 16, 32
	}
	o.Window = min(o.Window, 3)
	return o
}

func TestOneSidedBenchmarksValidateWithEveryWindowAndSynchronization(t *testing.T) {
	for _, b := range oneSidedBenchmarks() {
		for w := WinAllocate; w <= WinDynamic; w++ {
			for s := ByLock; s <= ByLockAll; s++ {
				if b.takes("A") && !s.active() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%v", b.Name, w, s), func(t *testing.T) {
					o := small(b)
					o.Creation, o.Sync = w, s
					out, err := run(t, b, 2, o)
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					checkTable(t, b, o, out)
					head := fmt.Sprintf("# %s v%s\n# Window creation: %v\n# Synchronization: %v\n# Datatype: ", b.Title, osufmt.Version, w, s)
					if !strings.HasPrefix(out, head) {
						t.Errorf("begins with\n%s, want\n%s", out, head)
					}
				})
			}
		}
	}
}

func TestPutsBothWaysNeedCallsOfTheTarget(t *testing.T) {
	b, _ := Lookup("put_bibw")
	o := small(b)
	o.Sync = ByFlush
	if out, err := run(t, b, 2, o); err == nil || !strings.Contains(err.Error(), "pscw or fence") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A validation finds each element that an operation has not changed, or has changed
// where it must not.
func TestWrongElementsOfWindowsAreCounted(t *testing.T) {
	for _, b := range oneSidedBenchmarks() {
		for _, c := range []struct {
			name  string
			spoil func(*oneSided[int64])
			least int
		}{
			{"nothing", func(*oneSided[int64]) {}, 0},
			{"an element of the window", func(w *oneSided[int64]) { w.local[0]++ }, 1},
			{"what was fetched", func(w *oneSided[int64]) {
				if w.result != nil {
					w.result[0]++
				} else {
					w.local[0]++
				}
			}, 1},
		} {
			t.Run(b.Name+"/"+c.name, func(t *testing.T) {
				err := mpi.Run(2, func(world *mpi.World) error {
					o := small(b)
					o.Sync = ByFence
					j := &job{Benchmark: b, o: o, c: world.Comm()}
					w, err := expose(j, &memory[int64]{buffers: buffers[int64]{o: &j.o}}, 1)
					if err != nil {
						return err
					}
					calls, err := w.rounds(pingPongs)
					if err != nil {
						return err
					}
					if _, err := w.validate(&calls, 8); err != nil {
						return err
					}
					c.spoil(w)
					if n := w.wrong(&calls, 8); n != c.least {
						t.Errorf("rank %d: %d elements are wrong, want %d", j.c.Rank(), n, c.least)
					}
					return w.free()
				}, mpi.WithFabric("mem"))
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
