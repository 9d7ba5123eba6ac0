package capi

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"
)

// Threads may set and read keys of one info object.
func TestThreadsShareAnInfo(t *testing.T) {
	handle := (*uint64)(outside(t, 8))
	if err := infoCreate(newArgs(t, unsafe.Pointer(handle))); err != nil {
		t.Fatal(err)
	}
	const threads, rounds = 4, 50
	var all sync.WaitGroup
	for i := range threads {
		text := func(s string) unsafe.Pointer {
			p := outside(t, 64)
			copy(unsafe.Slice((*byte)(p), 63), s)
			return p
		}
		value := outside(t, 64)
		room, flag := outside(t, 4), outside(t, 4)
		key := text(fmt.Sprintf("key %d", i))
		set := newArgs(t, *handle, key, text("a value"))
		get := newArgs(t, *handle, key, room, value, flag)
		all.Go(func() {
			for range rounds {
				if err := infoSet(set); err != nil {
					t.Error(err)
				}
				*(*int32)(room) = 64
				if err := infoGetString(get); err != nil || *(*int32)(room) != 8 || *(*int32)(flag) != 1 {
					t.Errorf("%v, room %d, flag %d", err, *(*int32)(room), *(*int32)(flag))
				}
				if err := infoDelete(set); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := infos.get(*handle).now.Load().Len(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	if err := infoFree(newArgs(t, unsafe.Pointer(handle))); err != nil || *handle != infoNull {
		t.Errorf("%v, handle %d", err, *handle)
	}
}
