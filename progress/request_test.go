package progress

import (
	"reflect"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// What every short message touches lies in two cache lines, and requests begin on
// cache lines of their own.
func TestRequestLines(t *testing.T) {
	const line = 64
	r := reflect.TypeFor[Request]()
	if r.Size()%line != 0 {
		t.Errorf("a request takes %d bytes, which are no whole lines", r.Size())
	}
	for _, name := range []string{"Buf", "Imm", "Peer", "Kind", "Step", "done", "id", "gen", "sink", "waiter", "err",
		"Result", "Entry", "Link", "Mode", "resting", "special", "Began"} {
		f, ok := r.FieldByName(name)
		if !ok || f.Offset+f.Type.Size() > 2*line {
			t.Errorf("the field %s is not in the first two lines", name)
		}
	}
}

// A request that belongs to no rank is freed by its own loop, whichever completes it.
func TestALoneRequestStaysOutOfOtherLoops(t *testing.T) {
	l := lone(t, func(d fabric.Domain, _ *toy) fabric.Domain { return d })
	hs := []Handle{Lone(nothing), {}}
	l.Exclusive(func() { hs[1] = l.Instant() })
	if err := WaitAll(hs, nil); err != nil {
		t.Fatal(err)
	}
	l.Exclusive(func() {
		if r := l.New(); r.loop != l {
			t.Error("the loop has got a request of another")
		}
	})
}
