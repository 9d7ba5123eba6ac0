package mpi_test

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// freshVar is set in a process that has had no World.
const freshVar = "WEFT_MPI_TEST_FRESH"

func TestInitializedAndFinalizedTellOfTheProcess(t *testing.T) {
	if os.Getenv(freshVar) != "" {
		if mpi.Initialized() || mpi.Finalized() {
			t.Errorf("before any World Initialized = %t, Finalized = %t", mpi.Initialized(), mpi.Finalized())
		}
		return
	}
	onEach(t, func(t *testing.T, fabric string) {
		over := newSignal()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			if !mpi.Initialized() || mpi.Finalized() {
				t.Errorf("with a World Initialized = %t, Finalized = %t", mpi.Initialized(), mpi.Finalized())
			}
			// Of two ranks that are goroutines one's World is left.
			if c.Rank() == 0 {
				ok(c.Barrier())
				over.take()
				return
			}
			ok(c.Barrier())
			over.give()
		})
		if !mpi.Initialized() || !mpi.Finalized() {
			t.Errorf("after the last World Initialized = %t, Finalized = %t", mpi.Initialized(), mpi.Finalized())
		}
	})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fresh := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WEFT_") {
			fresh.Env = append(fresh.Env, v)
		}
	}
	fresh.Env = append(fresh.Env, freshVar+"=1")
	if out, err := fresh.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("a process without a World: %v\n%s", err, out)
	}
}

// A World that ends by failure counts as finalized too.
func TestAFailedRankLeavesNoWorldOpen(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		if err := try(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error { return os.ErrInvalid }); err == nil {
			t.Error("Run does not tell of the failure")
		}
		if !mpi.Finalized() {
			t.Error("a World is left open")
		}
	})
}

func TestWtimeCountsSeconds(t *testing.T) {
	before, start, from := mpi.Wtime(), time.Now(), mpi.Wtime()
	last := from
	for time.Since(start) < 20*time.Millisecond {
		now := mpi.Wtime()
		if now < last {
			t.Fatalf("the clock went back by %v s", last-now)
		}
		last = now
	}
	// The interval of the other clock begins after before and ahead of from.
	end := mpi.Wtime()
	outer := time.Since(start).Seconds()
	if end-before < 0.020-1e-6 || end-from > outer+1e-6 {
		t.Errorf("Wtime counts %v to %v s in an interval of 0.02 to %v s", end-from, end-before, outer)
	}
	if tick := mpi.Wtick(); tick <= 0 || tick > 0.01 {
		t.Errorf("Wtick = %v s", tick)
	}
}

func TestTheEnvironmentIsTold(t *testing.T) {
	host, err := os.Hostname()
	if name, e := mpi.ProcessorName(); name != host || (e == nil) != (err == nil) {
		t.Errorf("ProcessorName = %q, %v; the host is %q, %v", name, e, host, err)
	}
	if v, sub := mpi.Version(); v != 4 || sub != 0 {
		t.Errorf("Version = %d, %d", v, sub)
	}
	text := mpi.LibraryVersion()
	if !regexp.MustCompile(`^Weft \S+, go\S+.*, \w+/\w+$`).MatchString(text) || !strings.Contains(text, runtime.Version()) {
		t.Errorf("LibraryVersion = %q", text)
	}
}
