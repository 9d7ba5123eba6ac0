package procs

import (
	"runtime"
	"sync"
	"testing"
)

// start sets the number of processors, and forgets what was added before.
func start(t *testing.T, procs int) {
	before := runtime.GOMAXPROCS(procs)
	added = false
	t.Cleanup(func() {
		runtime.GOMAXPROCS(before)
		if lent != 0 || lack != 0 {
			t.Errorf("%d are lent, %d lack", lent, lack)
		}
	})
}

func is(t *testing.T, want int) {
	t.Helper()
	if got := runtime.GOMAXPROCS(0); got != want {
		t.Errorf("the process has %d processors, want %d", got, want)
	}
}

func TestProcessorsAreAddedOnce(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	start(t, 1)
	for range 2 {
		if !Add(2) {
			t.Error("a process with three processors has one")
		}
	}
	is(t, 3)
}

func TestTheUsersNumberStays(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	start(t, 1)
	if Add(2) {
		t.Error("a process with one processor has more")
	}
	is(t, 1)
	back := Borrow(2)
	is(t, 2)
	if Add(2) {
		t.Error("a borrowed processor counts")
	}
	back()
	is(t, 1)
}

// What is added while some are borrowed stays when they are given back.
func TestABorrowUndoesOnlyItself(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	start(t, 1)
	back := Borrow(2)
	is(t, 2)
	Add(2)
	is(t, 4)
	back()
	is(t, 3)
	Borrow(2)() // there are enough
	is(t, 3)
}

func TestTheLastBorrowerGivesBack(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	start(t, 1)
	a, b, c := Borrow(2), Borrow(2), Borrow(3)
	is(t, 3)
	a()
	c()
	is(t, 3)
	b()
	is(t, 1)
}

func TestBorrowsAtOnce(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	start(t, 1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				back := Borrow(2)
				if runtime.GOMAXPROCS(0) < 2 {
					t.Error("there is one processor in spite of a Borrow")
				}
				back()
			}
		})
	}
	wg.Go(func() { Add(2) })
	wg.Wait()
	is(t, 3)
}
