package progress

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// A sink sees its own requests only, whatever a peer or a fabric names.
func TestSinksAreApart(t *testing.T) {
	a := loops(t, 2, Config{NoThread: true})[0]
	b := &toy{l: a.l, waiting: map[*Request]bool{}}
	a.own(func() {
		mine, its := a.beginForever(), b.beginForever()
		for _, s := range []struct {
			*toy
			own, other *Request
		}{{a, mine, its}, {b, its, mine}} {
			seen := 0
			a.l.Each(s.toy, func(r *Request) {
				seen++
				if r != s.own || !r.Of(s.toy) {
					t.Error("a sink is shown another's request")
				}
			})
			if seen != 1 {
				t.Errorf("a sink is shown %d requests, want 1", seen)
			}
			if a.l.Named(s.toy, uint64(s.own.Op())) != s.own {
				t.Error("a sink does not find its request")
			}
			if a.l.Named(s.toy, uint64(s.other.Op())) != nil || s.other.Of(s.toy) {
				t.Error("a sink finds another's request")
			}
		}
		all := 0
		if a.l.EachOfAll(func(*Request) { all++ }); all != 2 {
			t.Errorf("%d requests are in flight, want 2", all)
		}
		a.tell()
		b.tell()
		a.l.Free(mine)
		a.l.Free(its)
	})
}

// The end of an operation goes to the sink that has named it, with its tag, and
// never to a request.
func TestOperationsThatSinksHaveNamed(t *testing.T) {
	l := lone(t, func(d fabric.Domain, _ *toy) fabric.Domain { return d })
	type end struct {
		sink int
		tag  uint64
		err  error
	}
	var got []end
	var names []Ops
	for i := range maxOps {
		o, err := l.NameOps(func(tag uint64, err error) { got = append(got, end{i, tag, err}) })
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o)
	}
	if _, err := l.NameOps(nil); err == nil {
		t.Errorf("there are more than %d names", maxOps)
	}
	failed := errors.New("failed")
	var want []end
	seen := map[fabric.Op]bool{}
	for i, o := range names {
		for _, tag := range []uint64{0, 1, MaxTag} {
			op := o.Op(tag)
			if seen[op] || op&opNamed == 0 {
				t.Errorf("tag %d of %d has the name %#x", tag, i, uint64(op))
			}
			seen[op] = true
			l.Complete(op, failed)
			want = append(want, end{i, tag, failed})
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the ends went to\n%v, want\n%v", got, want)
	}
}

// stuffed takes no message until it has room, and then notes what comes.
type stuffed struct {
	fabric.Endpoint
	room bool
	came []string
}

func (s *stuffed) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if !s.room {
		return fabric.ErrAgain
	}
	s.came = append(s.came, fmt.Sprintf("%d %d %q %q", kind, imm, hdr, body))
	return nil
}

// A packet that waits has its own copy of its body, and packets that are used
// again have none of the one before.
func TestAPacketThatWaitsKeepsItsBody(t *testing.T) {
	ep := &stuffed{}
	l := &Loop{conns: make([]Conn, 1)}
	c := &l.conns[0]
	c.loop, c.ep = l, ep
	for range 2 {
		hdr, body := []byte("header"), []byte("body")
		c.PostBody(1, 2, hdr, body)
		c.Post(3, 4, hdr)
		c.PostBody(5, 6, nil, body[:1])
		clear(hdr)
		clear(body)
		ep.room = true
		l.flush()
		ep.room = false
	}
	want := []string{`1 2 "header" "body"`, `3 4 "header" ""`, `5 6 "" "b"`}
	if want = append(want, want...); fmt.Sprint(ep.came) != fmt.Sprint(want) {
		t.Errorf("%q came, want %q", ep.came, want)
	}
}
