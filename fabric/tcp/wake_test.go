package tcp

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// message is a frame with a message without a body.
func message() []byte { return frames(header{form: formMessage, kind: 1}) }

// A Poll reads each hot connection, whichever of the others have been silent for too
// long and whichever was read last. One that is left out may have messages in user
// space, for which no doorbell rings.
func TestAPollReadsEachHotConnection(t *testing.T) {
	const conns = 4
	for turn := range conns {
		for cold := range 1<<conns - 1 {
			d, _, far := wired(t, false, true, true, true)
			want := 0
			for i := range conns {
				d.heat(d.conns[i])
				if cold>>i&1 != 0 {
					d.conns[i].idle = vain - 1
				} else {
					unix.Write(far[i], message())
					want++
				}
			}
			d.turn = turn
			var h quietHandler
			if d.Poll(&h, 64); h.messages != want || len(d.hot) != want {
				t.Errorf("turn %d, cold %04b: %d messages of %d, %d connections are hot", turn, cold, h.messages, want, len(d.hot))
			}
			for _, fd := range far {
				unix.Shutdown(fd, unix.SHUT_RDWR)
			}
			d.Close()
		}
	}
}

// sleeper has the rank arm its doorbell and find nothing to do. Then call happens,
// on another thread of the rank, which does not poll. The bell has to ring.
func sleeper(t *testing.T, d *Domain, what string, call func()) {
	t.Helper()
	const long = 10 * time.Second
	if err := d.Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	for d.Poll(nothing{}, 64) > 0 {
	}
	call()
	begin := time.Now()
	d.Wait(long)
	if time.Since(begin) >= long {
		t.Errorf("%s: the rank sleeps on", what)
	}
	if d.Poll(nothing{}, 64) == 0 {
		t.Errorf("%s: nothing was left to do", what)
	}
	for d.Poll(nothing{}, 64) > 0 {
	}
	d.Disarm()
}

// Whatever a call leaves to the next Poll wakes a rank that sleeps.
func TestWhatACallLeavesToPollRings(t *testing.T) {
	d, e, far := wired(t, false)
	unix.SetsockoptInt(e.msg.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 200<<10) // room for more than one share
	sleeper(t, d, "a Flush of nothing", func() {
		if err := e.Flush(1); err != nil {
			t.Fatal(err)
		}
	})
	unix.Read(far[0], make([]byte, 1<<20))
	sleeper(t, d, "a Put that is longer than a share", func() {
		d.lately = latelyPoll
		if err := e.Put(fabric.Segment{Bytes: make([]byte, 3*pollShare)}, fabric.Remote{Len: 3 * pollShare}, 2); err != nil {
			t.Fatal(err)
		}
		if e.msg.blocked {
			t.Fatal("the kernel has less room than the test needs")
		}
	})
	sleeper(t, d, "the end of a peer with an operation", func() { d.End(1, fabric.ErrPeerDown) })
}

// Frames that a Poll has read and not handed over are the next one's, whatever else is
// hot: the kernel knows nothing of them.
func TestWhatAPollLeavesIsTheNextOnes(t *testing.T) {
	kinds := make([]bool, hotMost+2)
	for i := range kinds {
		kinds[i] = i > 0
	}
	d, _, far := wired(t, kinds...)
	for _, c := range d.conns[:hotMost] {
		d.heat(c)
	}
	var h quietHandler
	unix.Write(far[hotMost+1], frames(message(), message(), message()))
	d.sweep = true
	for want := 1; want <= 3; want++ {
		if n := d.Poll(&h, 1); n == 0 || h.messages != want {
			t.Fatalf("Poll %d returns %d, %d messages have come", want, n, h.messages)
		}
	}
}
