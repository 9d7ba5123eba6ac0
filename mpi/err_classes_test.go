package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestClassesAndCodesOfTheProgram(t *testing.T) {
	before := mpi.LastUsedCode()
	class := get(mpi.AddErrorClass())
	code := get(mpi.AddErrorCode(class))
	ofOurs := get(mpi.AddErrorCode(mpi.ErrRank))
	if int(class) <= before || code == class || mpi.LastUsedCode() != int(ofOurs) || before < int(mpi.ErrProcFailedPending) {
		t.Errorf("the class %d, the codes %d and %d; last used before %d, now %d", class, code, ofOurs, before, mpi.LastUsedCode())
	}
	for of, want := range map[error]mpi.Class{
		class: class, code: class, ofOurs: mpi.ErrRank, mpi.ErrTag: mpi.ErrTag, errors.New("other"): mpi.ErrOther, context.Canceled: mpi.ErrCanceled,
		&mpi.Error{Class: code, Call: "Solve"}: class, fmt.Errorf("wrapped: %w", &mpi.Error{Class: mpi.ErrArg}): mpi.ErrArg,
	} {
		if got := mpi.ErrorClass(of); got != want {
			t.Errorf("the class of %v is %d, want %d", of, got, want)
		}
	}
	err := fmt.Errorf("solve: %w", &mpi.Error{Class: code, Call: "Solve"})
	if !errors.Is(err, code) || !errors.Is(err, class) || errors.Is(err, ofOurs) || errors.Is(err, mpi.ErrRank) || !errors.Is(ofOurs, mpi.ErrRank) || errors.Is(class, code) {
		t.Error("a code is not told from another, or does not have its class")
	}
	if mpi.ErrorClass(nil) != 0 || mpi.ErrorString(nil) != "" || !strings.Contains(mpi.ErrorString(class), fmt.Sprint(int(class))) {
		t.Errorf("without a text: %q", mpi.ErrorString(class))
	}
	ok(mpi.AddErrorString(code, "it does not converge"))
	if got := mpi.ErrorString(code); got != "it does not converge" || (&mpi.Error{Class: code, Call: "Solve"}).Error() != "mpi.Solve: "+got {
		t.Errorf("its text is %q", got)
	}
	ok(mpi.RemoveErrorString(code))
	for what, err := range map[string]error{
		"a text for a class of MPI":       mpi.AddErrorString(mpi.ErrRank, "x"),
		"a long text":                     mpi.AddErrorString(code, strings.Repeat("x", mpi.MaxErrorString+1)),
		"a code of a code":                second(mpi.AddErrorCode(code)),
		"a code of nothing":               second(mpi.AddErrorCode(12345)),
		"removing the text of MPI's":      mpi.RemoveErrorString(mpi.ErrTag),
		"removing a class of MPI":         mpi.RemoveErrorClass(mpi.ErrRank),
		"removing a class that has codes": mpi.RemoveErrorClass(class),
		"removing a class as a code":      mpi.RemoveErrorCode(class),
		"removing a code as a class":      mpi.RemoveErrorClass(code),
	} {
		want(t, what, err, mpi.ErrArg)
	}
	ok(mpi.RemoveErrorCode(code))
	ok(mpi.RemoveErrorCode(ofOurs))
	ok(mpi.RemoveErrorClass(class))
	want(t, "removing it again", mpi.RemoveErrorClass(class), mpi.ErrArg)
	if next := get(mpi.AddErrorClass()); next <= ofOurs {
		t.Errorf("the number %d is given again", next)
	}
}

func TestGoroutinesAddClassesOfDifferentNumbers(t *testing.T) {
	const n = 50
	var wg sync.WaitGroup
	var all sync.Map
	for range 8 {
		wg.Go(func() {
			for range n {
				class := get(mpi.AddErrorClass())
				code := get(mpi.AddErrorCode(class))
				for _, c := range []mpi.Class{class, code} {
					if _, twice := all.LoadOrStore(c, true); twice {
						t.Errorf("%d is given twice", c)
					}
				}
				if mpi.ErrorClass(code) != class || !errors.Is(code, class) {
					t.Errorf("%d is not of class %d", code, class)
				}
				ok(mpi.RemoveErrorCode(code))
				ok(mpi.RemoveErrorClass(class))
			}
		})
	}
	wg.Wait()
}

func TestEveryThreadMayCallAndOneIsMain(t *testing.T) {
	if got := fmt.Sprint(mpi.QueryThread(), mpi.ThreadSingle, mpi.ThreadFunneled, mpi.ThreadSerialized, mpi.ThreadLevel(7)); got !=
		"MPI_THREAD_MULTIPLE MPI_THREAD_SINGLE MPI_THREAD_FUNNELED MPI_THREAD_SERIALIZED thread level 7" {
		t.Error(got)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var w *mpi.World
	ok(mpi.Run(1, func(of *mpi.World) error {
		w = of
		runtime.LockOSThread() // a thread of its own, since Run's is taken
		defer runtime.UnlockOSThread()
		if w.IsThreadMain() {
			t.Error("the rank's goroutine runs on the thread of Run")
		}
		return nil
	}, mpi.WithFabric("mem")))
	if !w.IsThreadMain() {
		t.Error("the goroutine that has called Run, and is locked, is on another thread")
	}
}

func TestPredefinedAttributes(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		if n, known := w.AppNum(); n != 0 || !known || w.UniverseSize() != 3 || mpi.WtimeIsGlobal {
			t.Errorf("the program %d, %t; the universe %d", n, known, w.UniverseSize())
		}
	})
}
