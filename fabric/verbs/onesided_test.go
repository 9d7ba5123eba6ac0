package verbs

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// What is wrong is refused behind a transfer that was right, too, whose memory
// and key the next ones take for known.
func TestARepeatedTransferIsChecked(t *testing.T) {
	emulated(t)
	for _, c := range []struct {
		name  string
		spoil func(v *moving, seg *fabric.Segment, m *fabric.Remote)
		is    error // nil: it goes well
	}{
		{"nothing", func(*moving, *fabric.Segment, *fabric.Remote) {}, nil},
		{"no bytes", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Bytes = nil }, nil},
		{"longer than the peer's memory", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Len = 7 }, fabric.ErrBadRemote},
		{"beyond the address space", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Addr = -(m.Len / 2) }, fabric.ErrBadRemote},
		{"another key", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Key ^= 1 }, fabric.ErrBadRemote},
		{"a key for something else", func(v *moving, _ *fabric.Segment, m *fabric.Remote) {
			m.Key = register(v.t, v.ds[1], make([]byte, 64), fabric.RemoteAtomic).Remote.Key
		}, fabric.ErrBadRemote},
		{"no memory", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { *m = fabric.Remote{} }, fabric.ErrUnsupported},
		{"memory that is not registered", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Bytes = make([]byte, 8) }, fabric.ErrUnsupported},
		{"memory beside what is registered", func(v *moving, seg *fabric.Segment, _ *fabric.Remote) {
			seg.Bytes = v.mine[:len(v.mine)+8][len(v.mine):]
		}, fabric.ErrUnsupported},
		{"memory of no registration", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Region = fabric.Region{} }, fabric.ErrUnsupported},
		{"memory that was registered", func(v *moving, seg *fabric.Segment, _ *fabric.Remote) {
			deregister(v.t, v.ds[0], seg.Region)
		}, fabric.ErrUnsupported},
	} {
		for _, put := range []bool{true, false} {
			t.Setenv(envCache, "0") // so that what is given back is gone
			ds, eps := connected(t, fakeJob(newFakeNet()))
			memory := make([]byte, 64, 128)
			v := newMovingOf(t, ds, eps[0], memory)
			for range 3 {
				v.start(put, 0, 8)
				v.wait()
			}
			copy(v.mine, "ABCDEFGH")
			copy(v.its, "abcdefgh")
			seg, m := v.seg, v.remote
			seg.Bytes = seg.Bytes[:8]
			c.spoil(v, &seg, &m)
			var err error
			if put {
				err = eps[0].Put(seg, m, 0, v.op)
			} else {
				err = eps[0].Get(seg, m, v.op)
			}
			if !errors.Is(err, c.is) {
				t.Errorf("%s, put %t: %v, want %v", c.name, put, err, c.is)
			}
			if err == nil {
				v.op++
			}
			v.wait()
			same := bytes.Equal(v.mine[:8], v.its[:8])
			if moved := err == nil && len(seg.Bytes) > 0; same != moved {
				t.Errorf("%s, put %t: %q here, %q there", c.name, put, v.mine[:8], v.its[:8])
			}
		}
	}
}

// A key that is good for a Put need not be for a Get.
func TestARepeatedKeyIsForOnePurpose(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, fakeJob(newFakeNet()))
	v := newMoving(t, ds, eps[0], 8)
	v.remote = register(t, ds[1], v.its, fabric.RemoteWrite).Remote
	v.start(true, 0, 8)
	v.wait()
	if err := eps[0].Get(v.seg, v.remote, v.op); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("a Get of memory that may only be written: %v", err)
	}
}
