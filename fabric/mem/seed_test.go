package mem_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// log writes down what Poll hands over.
type log struct {
	rank  int
	lines *[]string
	then  func() // called in Deliver
}

func (l log) note(format string, args ...any) {
	*l.lines = append(*l.lines, fmt.Sprintf("%d ", l.rank)+fmt.Sprintf(format, args...))
}

func (l log) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	h := fnv.New32()
	h.Write(hdr)
	h.Write(body)
	l.note("deliver %d %d %d %d+%d %x", from, kind, imm, len(hdr), len(body), h.Sum32())
	if l.then != nil {
		l.then()
	}
}
func (l log) Complete(op fabric.Op, err error)  { l.note("complete %d %v", op, err) }
func (l log) PeerDown(p fabric.Peer, err error) { l.note("down %d %v", p, err) }

// trace runs a random programme, the same every time, and returns every answer
// and every event.
func trace(t *testing.T, seed uint64) []string {
	const size = 4
	w := mem.NewNetwork(size, mem.WithSeed(seed), mem.WithDepth(8))
	ds := openAll(t, w, size)
	var eps [size][size]fabric.Endpoint
	var mine, theirs [size]fabric.Segment
	var lines []string
	var logs [size]log
	for i, d := range ds {
		for j := range ds {
			e, err := d.Connect(fabric.Peer(j), ds[j].Addr())
			if err != nil {
				t.Fatal(err)
			}
			eps[i][j] = e
		}
		for _, s := range []*fabric.Segment{&mine[i], &theirs[i]} {
			s.Bytes = make([]byte, 256)
			r, err := d.Register(s.Bytes, fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
			if err != nil {
				t.Fatal(err)
			}
			s.Region = r
			lines = append(lines, fmt.Sprintf("%d region %+v", i, r))
		}
		logs[i] = log{rank: i, lines: &lines}
		logs[i].then = func() {
			logs[i].note("reply: %v", eps[i][0].Send(9, 0, nil, nil))
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	result := uint64(0)
	for op := range fabric.Op(4000) {
		i, j := rng.IntN(size), rng.IntN(size)
		e, l := eps[i][j], logs[i]
		switch rng.IntN(8) {
		case 0:
			l.note("flush %d: %v", op, e.Flush(op))
		case 1:
			l.note("put %d: %v", op, e.Put(mine[i], theirs[j].Region.Remote, op))
		case 2:
			l.note("get %d: %v", op, e.Get(mine[i], theirs[j].Region.Remote, op))
		case 3:
			l.note("atomic %d: %v", op, e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &result}, theirs[j].Region.Remote, op))
		case 4, 5:
			l.note("send %d: %v", op, e.Send(1, uint64(op), mine[i].Bytes[:8], mine[i].Bytes[:rng.IntN(200)]))
		default:
			max := 1 + rng.IntN(16)
			l.note("poll %d: %d", max, ds[i].Poll(l, max))
		}
		if op == 3000 {
			w.Kill(3)
		}
	}
	for i, d := range ds {
		for d.Poll(logs[i], 64) > 0 {
		}
	}
	return lines
}

func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	a, b := trace(t, 1), trace(t, 1)
	if len(a) != len(b) {
		t.Fatalf("%d events, then %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("event %d: %q, then %q", i, a[i], b[i])
		}
	}
	if strings.Join(a, "\n") == strings.Join(trace(t, 2), "\n") {
		t.Error("another seed gives the same trace")
	}
	for _, want := range []string{"try again", "down 3", "rank was killed"} {
		if !strings.Contains(strings.Join(a, "\n"), want) {
			t.Errorf("the trace never says %q: the programme is too tame", want)
		}
	}
}

func TestASeededNetworkMinglesSendersAndHoldsBack(t *testing.T) {
	w := mem.NewNetwork(3, mem.WithSeed(5))
	ds := openAll(t, w, 3)
	fewer, swapped := 0, 0
	for range 200 {
		for from := range 2 {
			e, err := ds[from].Connect(2, ds[2].Addr())
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				for e.Send(1, 0, nil, nil) != nil {
				}
			}
		}
		var lines []string
		for first := true; ; first = false {
			n := ds[2].Poll(log{2, &lines, nil}, 8)
			if n == 0 {
				break
			}
			if first && n < 8 {
				fewer++
				if err := ds[2].Wait(time.Hour); err != nil { // must ring for the rest
					t.Fatal(err)
				}
			}
		}
		if len(lines) != 8 {
			t.Fatalf("%d messages, want 8", len(lines))
		}
		if strings.HasPrefix(lines[0], "2 deliver 1") {
			swapped++
		}
	}
	if fewer == 0 || fewer == 200 || swapped == 0 || swapped == 200 {
		t.Errorf("of 200 Polls %d handed over fewer and %d began with the second sender", fewer, swapped)
	}
}
