package progress

import (
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// ownership is the word that makes a goroutine the owner of a loop.
//
// In a process all of whose threads are bound to one core, as ranks usually
// are, nothing happens between two instructions but what this core does: a
// single read-modify-write instruction is then as good without the bus lock,
// which costs more than the rest of a short call. Such a process must not move
// threads to other cores afterwards.
type ownership struct {
	word    uint32
	oneCore bool
}

func (o *ownership) init() { o.oneCore = coreLocal && boundToOneCore() }

// take makes the caller the owner if nobody is.
func (o *ownership) take() bool {
	if o.oneCore {
		return takeLocal(&o.word)
	}
	return atomic.CompareAndSwapUint32(&o.word, 0, 1)
}

// give ends the ownership.
func (o *ownership) give() {
	if o.oneCore {
		o.word = 0 // one store, which the compiler keeps behind all before it
		return
	}
	atomic.StoreUint32(&o.word, 0)
}

// boundToOneCore reports whether all threads of the process may run on one core
// only, and the same.
func boundToOneCore() bool {
	var first unix.CPUSet
	tids := threads()
	for i, tid := range tids {
		var set unix.CPUSet
		if unix.SchedGetaffinity(tid, &set) != nil || set.Count() != 1 || i > 0 && set != first {
			return false
		}
		first = set
	}
	return len(tids) > 0
}

// threads lists the threads of the process.
func threads() (tids []int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}
