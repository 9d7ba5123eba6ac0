package rma

import (
	"runtime"
	"testing"
)

// wide is a window of many ranks.
func wide() *epochs {
	e := new(epochs)
	e.init(10_000, 0)
	return e
}

func TestEpochsAllocateForTheTargetsInUseOnly(t *testing.T) {
	few := new(epochs)
	few.init(64, 0)
	cycle := func(e *epochs, targets ...int) func() {
		return func() {
			for _, target := range targets {
				ch, err := e.lock(target, true, 0)
				if err != nil {
					t.Fatal(err)
				}
				ch.end()
				if err := e.op(target); err != nil {
					t.Fatal(err)
				}
			}
			for _, target := range targets {
				ch, err := e.unlock(target)
				if err != nil {
					t.Fatal(err)
				}
				ch.end()
			}
		}
	}
	if n := testing.AllocsPerRun(100, cycle(few, 0, 5, 63)); n != 0 {
		t.Errorf("locks of a small window allocate %v times", n)
	}
	many := wide()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cycle(many, 64, 5000, 9999)()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4096 {
		t.Errorf("three locks in a window of 10,000 ranks take %d bytes", n)
	}
	if n := testing.AllocsPerRun(100, cycle(many, 64, 5000, 9999)); n != 0 {
		t.Errorf("locks of targets that were locked before allocate %v times", n)
	}
}

func BenchmarkOp(b *testing.B) {
	for _, c := range []struct {
		name   string
		open   func(e *epochs) (change, error)
		target int
	}{
		{"fence", func(e *epochs) (change, error) { return e.fence(0) }, 7},
		{"lockAll", func(e *epochs) (change, error) { return e.lockAll(0) }, 7},
		{"lock", func(e *epochs) (change, error) { return e.lock(7, false, 0) }, 7},
		{"lock far", func(e *epochs) (change, error) { return e.lock(7000, false, 0) }, 7000},
		{"start", func(e *epochs) (change, error) { return e.start(0, []int{6, 7, 8}) }, 7},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := wide()
			ch, err := c.open(e)
			if err != nil {
				b.Fatal(err)
			}
			ch.end()
			for b.Loop() {
				if e.op(c.target) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	e := wide()
	b.ReportAllocs()
	for b.Loop() {
		ch, err := e.lock(7, true, 0)
		if err != nil {
			b.Fatal(err)
		}
		ch.end()
		if ch, err = e.unlock(7); err != nil {
			b.Fatal(err)
		}
		ch.end()
	}
}
