package shm

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// The measurement answers one of a few sizes and leaves the process as it was.
func TestWeighLeavesNoTrace(t *testing.T) {
	for _, procs := range []int{1, 2} {
		before := runtime.GOMAXPROCS(procs)
		var bound, after unix.CPUSet
		if err := unix.SchedGetaffinity(0, &bound); err != nil {
			t.Fatal(err)
		}
		n, err := weigh()
		if n != beyond && !slices.Contains(weighed[:], n) || err != nil && n != DefaultGetMin {
			t.Errorf("messages are to be read from %d bytes on (%v)", n, err)
		}
		if got := runtime.GOMAXPROCS(before); got != procs {
			t.Errorf("GOMAXPROCS is %d after the measurement, %d before", got, procs)
		}
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.SchedGetaffinity(0, &after); err != nil || after != bound {
			t.Errorf("a thread may run on %v after the measurement, on %v before (%v)", after, bound, err)
		}
		t.Logf("with GOMAXPROCS %d: %d bytes, %v, %d threads", procs, n, err, len(tasks))
	}
}

// Both ways bring the bytes.
func TestWhatIsWeighedArrives(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	s, err := newScales()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.until = s.until.Add(patience)
	for _, read := range []bool{false, false, true, true} {
		for i := range s.src {
			s.src[i]++
		}
		d, err := s.send(len(s.src), read, false)
		if errors.Is(err, unix.ENOSYS) {
			t.Skip("there is no process_vm_readv(2), as under qemu-user")
		}
		if err != nil || d <= 0 {
			t.Fatalf("read %t: %v, %v", read, d, err)
		}
		if !slices.Equal(s.src, s.dst) {
			t.Errorf("read %t: other bytes have come", read)
		}
	}
}
