package fabrictest

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// oneAtATime has rank 0 take one event with each Poll, as a rank does that waits
// for one message, while rank 1 sends as much as it can. The messages of rank 2,
// the ends of operations with rank 3 and the ends of both have to come all the
// same.
func oneAtATime(t *testing.T, h Harness) {
	const messages = 50
	r := open(t, h, 4)
	caps := r.nodes[0].d.Caps()
	size := 300_000
	theirs := content(1, size)
	source := r.nodes[3].region(theirs, fabric.RemoteRead).Region.Remote
	target := r.nodes[3].region(make([]byte, size), fabric.LocalWrite|fabric.RemoteWrite).Region.Remote
	into := r.nodes[0].region(make([]byte, size), fabric.LocalWrite)
	from := r.nodes[0].region(content(2, size), 0)
	left, over := newSignal(), newSignal()
	for _, n := range r.nodes {
		n.onDown = func(fabric.Peer, error) {}
	}
	r.together(func(n *node) {
		switch n.rank {
		case 0:
			n.idle = func() {
				n.pollMax(1)
				runtime.Gosched() // for those that connect
			}
			got, down := [4]int{}, [4]int{}
			last := false
			n.onDeliver = func(p fabric.Peer, _ uint8, imm uint64, _, _ []byte) { got[p]++; last = last || imm == 1 }
			n.onDown = func(p fabric.Peer, err error) {
				if down[p]++; !errors.Is(err, fabric.ErrPeerDown) {
					n.complain("PeerDown(%d, %v), want ErrPeerDown", p, err)
				}
			}
			if caps.Get {
				n.start(func(op fabric.Op) error { return n.eps[3].Get(into, source, op) })
			}
			if caps.Put {
				n.start(func(op fabric.Op) error { return n.eps[3].Put(from, target, op) })
			}
			n.finish()
			if caps.Get && !bytes.Equal(into.Bytes, theirs) {
				n.complain("Get has read other bytes")
			}
			n.say(left)
			n.wait("all messages and the end of ranks 2 and 3", func() bool { return got[2] == messages && down[2] == 1 && down[3] == 1 })
			n.say(over)
			n.wait("the last message of rank 1", func() bool { return last })
			if down[1] > 0 {
				n.complain("rank 1 is down")
			}
		case 1:
			body := content(1, min(1024, caps.MaxEager)) // else a socket holds very many
			n.wait("rank 0 to have everything", func() bool {
				err := n.eps[0].Send(1, 0, nil, body)
				for err == nil {
					err = n.eps[0].Send(1, 0, nil, body)
				}
				if err != fabric.ErrAgain {
					n.fail("Send: %v", err)
				}
				return over.heard()
			})
			n.send(0, 1, 1, nil, nil)
		case 2:
			for range messages {
				n.send(0, 1, 0, nil, nil)
			}
			n.close()
		case 3:
			n.hear(left)
			n.close()
		}
	})
}
