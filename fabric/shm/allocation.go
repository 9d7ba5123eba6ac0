package shm

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// allocation is a block of memory that Alloc has returned.
type allocation struct {
	mem    []byte // in whole pages
	serial uint64
	apart  error // why no peer can map it, nil if peers can
}

// inUse is the process's arena once something was allocated. Its store in
// Alloc pairs with the loads of Allocation.
var inUse atomic.Pointer[Arena]

// Allocation finds the memory of Alloc that addr lies in: where it begins, its
// bytes in whole pages, and a serial that no other allocation has, at the same
// place before or later either. Safe for concurrent use.
func Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	l, ok := find(addr)
	return uintptr(addressOf(l.mem)), uintptr(len(l.mem)), l.serial, ok
}

// Apart returns why no peer can map memory of Alloc, nil if peers can.
func Apart(b []byte) error {
	l, _ := find(uintptr(addressOf(b)))
	return l.apart
}

// find finds the allocation that addr lies in.
func find(addr uintptr) (l allocation, ok bool) {
	a := inUse.Load()
	if a == nil {
		return l, false
	}
	hi := a.hi.Load()
	if addr < a.lo.Load() || addr >= hi {
		return l, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i, exact := slices.BinarySearch(a.order, addr)
	if !exact {
		i--
	}
	if i < 0 {
		return l, false
	}
	l = a.live[a.order[i]]
	if addr-a.order[i] >= uintptr(len(l.mem)) {
		return allocation{}, false
	}
	return l, true
}

// hooks run before an allocation is returned to the system.
var hooks struct {
	sync.Mutex
	next int
	all  map[int]func(start uintptr)
}

// OnFree has f called with the address of each allocation before it is freed,
// until cancel is called; a call that has begun may return after that.
func OnFree(f func(start uintptr)) (cancel func()) {
	hooks.Lock()
	defer hooks.Unlock()
	if hooks.all == nil {
		hooks.all = map[int]func(uintptr){}
	}
	hooks.next++
	id := hooks.next
	hooks.all[id] = f
	return func() {
		hooks.Lock()
		defer hooks.Unlock()
		delete(hooks.all, id)
	}
}

// freeing calls the hooks without a lock: they may look up allocations.
func freeing(start uintptr) {
	hooks.Lock()
	fs := slices.Collect(maps.Values(hooks.all))
	hooks.Unlock()
	for _, f := range fs {
		f(start)
	}
}
