package verbs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// The kernel takes the memory of a killed process away before its queue pairs,
// so that a peer's device refuses what was right. Whose fault a refusal is
// depends on what the peer says after it.
func TestARefusalIsTheKeysFaultIfThePeerIsThere(t *testing.T) {
	emulated(t)
	const says = "device refuses"
	for _, c := range []struct {
		name string
		then func(e *endpoint, its *link)
		is   error
		says string
		down bool // on a further queue pair, too
	}{
		{"it answers", nil, fabric.ErrBadRemote, says, false},
		{"it is dead", func(_ *endpoint, its *link) { its.conn.Close() }, fabric.ErrPeerDown, "process has ended", true},
		{"it has ended the connection", func(_ *endpoint, its *link) {
			its.conn.Write([]byte{byteEnded})
			its.conn.Close()
		}, fabric.ErrBadRemote, says, true},
		{"it is silent", func(e *endpoint, _ *link) { e.answerBy = time.Now() }, fabric.ErrPeerDown, "refuse", true},
		{"it says what it was not asked", func(_ *endpoint, its *link) {
			its.conn.Write([]byte{byteHere, byteHere, byteHere})
		}, fabric.ErrBadRemote, says, false},
	} {
		for queues, port := range []string{"the first queue pair", "a further one"} {
			w := newFakeNet()
			ds, eps := connected(t, railJob(w, 1+queues, 1))
			v := newMoving(t, ds, eps[0], 1<<16)
			e := ds[0].peers[1]
			if queues > 0 {
				w.at = "fake1"
			}
			its := ds[1]
			its.mu.Lock() // so that it does not answer
			w.fault = ibv.RemAccessErr
			v.start(false, 0, len(v.mine))
			eventually(t, "the device refuses", func() bool {
				ds[0].Poll(v.m, 64)
				return len(e.refused) > 0
			})
			for range 100 {
				ds[0].Poll(v.m, 64)
			}
			if len(v.m.ends)+len(v.m.down) > 0 {
				t.Errorf("%s, %s: %v and %v before it is known whether the peer is there", c.name, port, v.m.ends, v.m.down)
			}
			if c.then != nil {
				c.then(e, &its.links[0])
				eventually(t, "the operation ends", func() bool {
					ds[0].Poll(v.m, 64)
					return len(v.m.ends) > 0
				})
			}
			its.mu.Unlock()
			v.wait()
			if err := v.m.ends[0]; !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "rank 1") {
				t.Errorf("%s, %s: ended with %v, want %v that says %q", c.name, port, err, c.is, c.says)
			}
			if queues == 0 || c.down {
				v.m.untilDown(t, ds[0])
			} else {
				v.start(true, 0, len(v.mine))
				v.wait()
				if v.m.ends[1] != nil || len(v.m.down) > 0 {
					t.Errorf("%s, %s: the next operation ends with %v; PeerDown %v", c.name, port, v.m.ends[1], v.m.down)
				}
			}
			v.rested()
		}
	}
}
