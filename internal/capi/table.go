package capi

import (
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/mpi"
)

// table has the objects of a kind by their handles. It is safe for concurrent use; get
// takes no lock.
type table[T any] struct {
	kind Kind

	chunks [slots / chunk]atomic.Pointer[[chunk]atomic.Pointer[T]]

	mu   sync.Mutex // guards the rest
	free []uint32   // slots that were used
	next uint32     // the first that never was, less firstSlot
}

const chunk = 1 << 10

func newTable[T any](k Kind) *table[T] { return &table[T]{kind: k} }

// get is the object of a handle, or nil if that is stale, mistaken or null.
func (t *table[T]) get(handle uint64) *T {
	if !slotOf(t.kind, handle).lives(handle) {
		return nil
	}
	if c := t.chunks[handle&(slots-1)/chunk].Load(); c != nil {
		return c[handle%chunk].Load()
	}
	return nil
}

// at is where the object of a slot is.
func (t *table[T]) at(i uint32) *atomic.Pointer[T] {
	c := t.chunks[i/chunk].Load()
	if c == nil {
		t.chunks[i/chunk].CompareAndSwap(nil, new([chunk]atomic.Pointer[T]))
		c = t.chunks[i/chunk].Load()
	}
	return &c[i%chunk]
}

// put sets the object of a predefined handle. fill, unless it is nil, writes what C is to
// know of it.
func (t *table[T]) put(handle uint32, v *T, fill func(*slot)) {
	s := slotOf(t.kind, uint64(handle))
	if fill != nil {
		fill(s)
	}
	t.at(handle).Store(v)
	s.publish(handle)
}

// add gives an object a handle. It fails with ErrOther if there are a million of its kind.
func (t *table[T]) add(v *T, fill func(*slot)) (handle uint32, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var i uint32
	switch n := len(t.free); {
	case n > 0:
		i, t.free = t.free[n-1], t.free[:n-1]
	case t.next < slots-firstSlot:
		i = firstSlot + t.next
		t.next++
	default:
		return 0, fail(mpi.ErrOther, "there are %d objects of that kind, and there can't be more: free some", t.next)
	}
	s := slotOf(t.kind, uint64(i))
	s.handler, s.ints, s.words = 0, [3]int32{}, [3]int64{}
	if fill != nil {
		fill(s)
	}
	t.at(i).Store(v)
	handle = uint32(t.kind)<<27 | s.generation%128<<20 | i
	s.generation++
	s.publish(handle)
	return handle, nil
}

// drop frees a handle and returns its object, or nil if somebody else has.
func (t *table[T]) drop(handle uint64) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.get(handle)
	if v == nil {
		return nil
	}
	i := uint32(handle & (slots - 1))
	slotOf(t.kind, handle).publish(0)
	t.at(i).Store(nil)
	if i >= firstSlot {
		t.free = append(t.free, i)
	}
	return v
}

// handleOf is a handle of the object for which is returns true, or 0. It looks at all, and
// is for errors and questions that are rare.
func (t *table[T]) handleOf(is func(*T) bool) uint64 {
	for c := range t.chunks {
		objects := t.chunks[c].Load()
		if objects == nil {
			continue
		}
		for i := range objects {
			if v := objects[i].Load(); v != nil && is(v) {
				return uint64(atomic.LoadUint32(&slotOf(t.kind, uint64(c*chunk+i)).handle))
			}
		}
	}
	return 0
}
