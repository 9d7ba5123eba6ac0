package launch

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
)

// Bind says which cores the ranks of a Launch may run on.
type Bind uint8

const (
	// BindAuto binds rank i to the i-th core that the launcher itself may run
	// on. With more ranks than cores it begins again at the first core: ranks
	// bound to one core hand it over sooner than the kernel would migrate them.
	// Two jobs started side by side would share their first cores: give each
	// launcher its own cores (taskset), or use BindNone.
	BindAuto Bind = iota
	// BindNone lets every rank run wherever the launcher may.
	BindNone
)

// setTimerSlack sets the slack of the calling thread and of the processes that
// it starts, in ns (prctl(2), PR_SET_TIMERSLACK); 0 sets the thread's default
// again.
func setTimerSlack(ns uintptr) { unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0) }

// maxCPUs is more than any kernel is built for (CONFIG_NR_CPUS ≤ 8192).
const maxCPUs = 8192

// AllowedCores lists the cores that this process may run on, in ascending
// order: those of its main thread, whose affinity no locked goroutine changes. Local.
func AllowedCores() ([]int, error) {
	set := unix.NewCPUSet(maxCPUs)
	if err := readAffinity(os.Getpid(), set); err != nil {
		return nil, err
	}
	var cores []int
	for i := range maxCPUs {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	return cores, nil
}

// readAffinity reads that of a thread, 0 for the calling one.
func readAffinity(thread int, set unix.CPUSetDynamic) error {
	if err := unix.SchedGetaffinityDynamic(thread, set); err != nil {
		return fmt.Errorf("launch: read the CPU affinity: %w", limits.Call("sched_getaffinity", err))
	}
	return nil
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
