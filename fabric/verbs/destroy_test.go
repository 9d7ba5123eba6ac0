package verbs

import (
	"errors"
	"runtime"
	"syscall"
	"testing"
	"weak"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// collected says whether the collector takes memory that nobody here holds.
func collected(w weak.Pointer[byte]) bool {
	for range 3 {
		runtime.GC()
	}
	return w.Value() == nil
}

// Memory whose registration the device does not end is nobody else's until the
// process ends, whatever it was registered for and however its use ended.
func TestMemoryThatIsNotDeregisteredIsNotUsedAgain(t *testing.T) {
	emulated(t)
	for _, refuses := range []bool{false, true} {
		for name, end := range map[string]func(d *Domain, b []byte) error{
			"written by peers": func(d *Domain, b []byte) error {
				return d.Deregister(register(t, d, b, fabric.RemoteWrite))
			},
			"read by peers, and evicted": func(d *Domain, b []byte) error {
				deregister(t, d, register(t, d, b, readable))
				d.regions.KeepNone()
				return nil
			},
			"in use at Close": func(d *Domain, b []byte) error {
				register(t, d, b, fabric.RemoteWrite)
				return d.Close()
			},
			"kept by the cache at Close": func(d *Domain, b []byte) error {
				deregister(t, d, register(t, d, b, readable))
				return d.Close()
			},
		} {
			d, n := alone(t)
			b := make([]byte, 1<<16)
			w := weak.Make(&b[0])
			if refuses {
				n.grips = 1
			}
			err := end(d, b)
			runtime.KeepAlive(b)
			b = nil
			if gone := collected(w); gone == refuses {
				t.Errorf("%s, the device refuses: %t; the memory is given away: %t", name, refuses, gone)
			}
			if name != "read by peers, and evicted" && refuses != errors.Is(err, syscall.EBUSY) {
				t.Errorf("%s, the device refuses: %t: %v", name, refuses, err)
			}
			n.grips = 0
			if err := d.Close(); refuses && err == nil && n.registered == 0 {
				t.Errorf("%s: nothing was refused: nothing is proved", name)
			}
		}
	}
}

// So it is with the slots: Close leaves them mapped.
func TestSlotsThatAreNotDeregisteredStay(t *testing.T) {
	emulated(t)
	for _, refuses := range []bool{false, true} {
		j := railJob(newFakeNet(), 2, 1)
		j.domains(t, 2)
		d := j.ranks[0]
		keys := d.keysMem
		if refuses {
			for _, n := range d.hcas() {
				n.(*fakeHCA).grips = 10
			}
		}
		if err := d.Close(); refuses != errors.Is(err, syscall.EBUSY) {
			t.Errorf("the device refuses: %t: Close: %v", refuses, err)
		}
		for i, m := range [][]byte{d.recvMem, d.sendMem, d.creditMem, keys} {
			if there := unix.Madvise(m[:1], unix.MADV_NORMAL) == nil; there != refuses {
				t.Errorf("the device refuses: %t: memory %d is mapped after Close: %t", refuses, i, there)
			}
		}
	}
}

// A further queue pair that is not destroyed could still be written over: the
// peer, which waits for the word that it is gone, is ended instead.
func TestALostPathThatIsNotDestroyedEndsThePeer(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, railJob(w, 1, 2))
	v := newMoving(t, ds, eps[0], 1<<16)
	v.stall(w, true)
	r, its := ds[0].peers[1].rails[0], ds[1].peers[0].rails[0].qp
	w.cling(its)
	ds[1].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: its.Num, Name: "QP_FATAL"})
	theirs := newMourner()
	theirs.untilDown(t, ds[1])
	v.m.untilDown(t, ds[0])
	if err := v.m.ends[0]; r.gone || !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("the peer was told that the path is gone: %t; the transfer has ended with %v", r.gone, err)
	}
}

// What the device refuses to post never ends: Close does not wait for it.
func TestCloseWaitsForNothingThatIsRefused(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, fakeJob(w))
	v := newMoving(t, ds, eps[0], 1<<12)
	d, n := ds[0], ds[0].hca.(*fakeHCA)
	d.inPoll = true // so that it is posted by Close
	v.start(false, 0, len(v.mine))
	d.inPoll = false
	w.set(func(f *faults) { f.full = true })
	before := n.crossings
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if turns := n.crossings - before; turns > 10 {
		t.Errorf("Close has looked %d times for the end of what was never begun", turns)
	}
}
