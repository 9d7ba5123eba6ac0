package progress

import (
	"reflect"
	"testing"
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
