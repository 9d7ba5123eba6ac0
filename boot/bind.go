package boot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Bind says which cores the ranks of a Launch may run on.
type Bind uint8

const (
	// BindAuto binds rank i to the i-th core that the launcher itself may run
	// on, and begins again with the first where there are more ranks than
	// cores: ranks that take turns on one core hand it over sooner than the
	// kernel moves them. Two jobs started side by side would share their first
	// cores: give each launcher its own cores (taskset), or use BindNone.
	BindAuto Bind = iota
	// BindNone lets every rank run wherever the launcher may.
	BindNone
)

// boundMaxProcs is the GOMAXPROCS of a rank that has one core to itself. More
// would have the Go scheduler spread goroutines over threads that can only
// take turns.
const boundMaxProcs = 1

// boundTimerSlack is by how much the kernel may delay a bound rank's timers
// (prctl(2), PR_SET_TIMERSLACK), in ns. The Go runtime's monitor sleeps 20 µs
// at a time whenever a rank comes to life; with the default slack of 50 µs it
// takes a tenth of the core from the rank for several milliseconds. Within the
// 4 ms of a kernel's tick at 250 Hz it needs no timer interrupt of its own.
const boundTimerSlack = 4_000_000

// setTimerSlack sets the slack of the calling thread and of what it starts;
// 0 sets the thread's default again.
func setTimerSlack(ns uintptr) { unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0) }

// maxProcs is the GOMAXPROCS that a rank gets when the user has set none, or 0
// to leave it to the Go runtime, which goes by the affinity mask and by the
// cgroup's quota.
func maxProcs(bound bool) int {
	if bound {
		return boundMaxProcs
	}
	return 0
}

// maxCPUs is more than any kernel is built for (CONFIG_NR_CPUS ≤ 8192).
const maxCPUs = 8192

// allowedCores lists the cores that this process may run on, in ascending
// order: those of its main thread, which no locked goroutine has changed.
func allowedCores() ([]int, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(os.Getpid(), set); err != nil {
		return nil, fmt.Errorf("boot: read the CPU affinity: %w", err)
	}
	var cores []int
	for i := range maxCPUs {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	return cores, nil
}

// bindThread makes the calling thread, and processes started from it, run on
// the given cores only. Precondition: the goroutine is locked to its thread.
func bindThread(cores ...int) error {
	set := unix.NewCPUSet(maxCPUs)
	for _, c := range cores {
		set.Set(c)
	}
	return unix.SchedSetaffinityDynamic(0, set)
}
