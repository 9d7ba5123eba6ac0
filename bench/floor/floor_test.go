package floor

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/bench/spread"
)

func TestMeasureGivesPlausibleFigures(t *testing.T) {
	cpus, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Measure(40 * time.Millisecond)
	if len(cpus) < 2 {
		if !errors.Is(err, ErrOneCore) {
			t.Errorf("on one core: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	// A line takes longer than a few cycles; a copy is slower than 10 TB/s.
	if m := f.LineNs.Min; m < 2 || math.IsNaN(m) {
		t.Errorf("half a round trip in %v ns", m)
	}
	if len(f.Copies) != len(CopySizes) {
		t.Fatalf("%d copies", len(f.Copies))
	}
	for _, c := range f.Copies {
		if c.GBs.Median <= 0 || c.GBs.Median > 1e4 {
			t.Errorf("%d bytes at %v GB/s", c.Size, c.GBs.Median)
		}
	}
	if after, _ := allowed(); len(after) != len(cpus) {
		t.Errorf("the process had %v, has %v", cpus, after)
	}
}

// oneCore is set in the child that TestOneCoreIsAClearError starts.
const oneCore = "FLOOR_TEST_ONE_CORE"

func TestMain(m *testing.M) {
	if os.Getenv(oneCore) != "" {
		runtime.LockOSThread()
		_, err := Measure(time.Millisecond)
		if errors.Is(err, ErrOneCore) {
			os.Exit(0)
		}
		println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestOneCoreIsAClearError(t *testing.T) {
	cpus, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	// A child inherits the affinity of the thread that starts it.
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		var set unix.CPUSet
		set.Set(cpus[0])
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			started <- err
			return
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), oneCore+"=1")
		c.Stderr = os.Stderr
		started <- c.Run()
	}()
	if err := <-started; err != nil {
		t.Error(err)
	}
}

func TestLimitsFollowFromLineAndCopies(t *testing.T) {
	one := func(v float64) spread.Spread { return spread.Of([]float64{v}) }
	f := Floor{LineNs: one(50), Copies: []Copy{{64 << 10, one(50)}, {1 << 20, one(40)}, {4 << 20, one(20)}}}
	for _, tc := range []struct {
		size    int
		us, mbs float64
	}{
		{1, 0.05, 50000},
		{64, 0.05, 50000},
		{1000, 0.05 + 0.02, 50000},
		{64 << 10, 0.05 + 65536/50e3, 50000},
		{256 << 10, 0.05 + 262144/45e3, 45000},
		{4 << 20, 0.05 + 4194304/20e3, 20000},
		{16 << 20, 0.05 + 16777216/20e3, 20000},
	} {
		if got := f.Latency(tc.size); math.Abs(got-tc.us) > 1e-9 {
			t.Errorf("%d bytes: %v us, want %v", tc.size, got, tc.us)
		}
		if got := f.Bandwidth(tc.size); math.Abs(got-tc.mbs) > 1e-6 {
			t.Errorf("%d bytes: %v MB/s, want %v", tc.size, got, tc.mbs)
		}
	}
	m := Merge([]Floor{f, f, f})
	if m.LineNs.N != 3 || m.LineNs.Median != 50 || m.Copies[2].GBs.Median != 20 {
		t.Errorf("merged: %+v", m)
	}
}
