package mem_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// Atomics of several ranks, carried out in any order, lose no update and give no
// value twice; a Flush behind quiet ones ends when they have taken effect.
func TestAtomicsOfASimLoseNoUpdate(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		const size, each = 3, 20
		s := mem.NewSim(rng, mem.SimConfig{Size: size, Depth: 8, Again: 40, Split: 100, Caps: fabric.Caps{MaxEager: 64, Atomics: true}})
		words := make([]byte, 16)
		var remote fabric.Region
		var eps [size]fabric.Endpoint
		var ds [size]fabric.Domain
		var ends [size]*atomicEnds
		for i := range size {
			d, err := s.Open(s.Config(i))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if remote, err = d.Register(words, fabric.RemoteAtomic); err != nil {
					t.Fatal(err)
				}
			}
			if eps[i], err = d.Connect(0, s.Addrs()[0]); err != nil {
				t.Fatal(err)
			}
			ds[i], ends[i] = d, &atomicEnds{}
		}
		counter, quiet := remote.Remote, remote.Remote
		counter.Len, quiet.Addr, quiet.Len = 8, quiet.Addr+8, 8
		var tickets [size][each]uint64
		var given [size]int
		var flushed, quietly [size]uint64 // quiet additions: before the last Flush, in all
		sum := func() (n int) { return given[0] + given[1] + given[2] }
		for sum() < size*each || !s.Quiet() {
			i := rng.IntN(size)
			switch n := given[i]; {
			case n < each && rng.IntN(2) == 0:
				if eps[i].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &tickets[i][n]}, counter, fabric.Op(n)) == nil {
					given[i]++
				}
				if eps[i].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1 << (20 * i)}, quiet, fabric.NoOp) == nil {
					quietly[i]++
				}
			case ends[i].flushes == ends[i].flushed && n < each:
				if eps[i].Flush(atomicFlush) == nil {
					ends[i].flushes++
					flushed[i] = quietly[i]
				}
			default:
				s.Step()
				before := ends[i].flushed
				ds[i].Poll(ends[i], 4)
				if got := binary.NativeEndian.Uint64(words[8:]) >> (20 * i) & (1<<20 - 1); ends[i].flushed > before && got < flushed[i] {
					t.Fatalf("seed %d: a Flush of rank %d has ended behind %d additions, %d are done", seed, i, flushed[i], got)
				}
			}
			if errs := ends[i].err; errs != nil {
				t.Fatalf("seed %d: %v", seed, errs)
			}
		}
		var all []uint64
		for i := range size {
			all = append(all, tickets[i][:]...)
		}
		slices.Sort(all)
		for i, x := range all {
			if x != uint64(i) {
				t.Fatalf("seed %d: ticket %d is %d", seed, i, x)
			}
		}
		if got := binary.NativeEndian.Uint64(words[8:]); got != quietly[0]|quietly[1]<<20|quietly[2]<<40 {
			t.Fatalf("seed %d: quiet additions give %x, made were %x", seed, got, quietly)
		}
	}
}

const atomicFlush fabric.Op = 1 << 40

// atomicEnds counts the Flushes that have ended.
type atomicEnds struct {
	flushes, flushed int
	err              error
}

func (a *atomicEnds) Complete(op fabric.Op, err error) {
	if a.err = errors.Join(a.err, err); op == atomicFlush {
		a.flushed++
	}
}
func (*atomicEnds) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (a *atomicEnds) PeerDown(p fabric.Peer, err error)                { a.err = errors.Join(a.err, err) }

// A Flush tells of the NoOps before it and of no other, also where a later one
// fails first; each NoOp may be the next to be carried out.
func TestAFlushOfASimTellsOfWhatIsBeforeIt(t *testing.T) {
	p := pair(t, 1, true)
	p.BadGet = 256 // all fail
	put := func() error {
		return p.to[0].Put(fabric.Segment{Bytes: make([]byte, 8)}, p.share.Region.Remote, fabric.NoOp)
	}
	if err := errors.Join(p.to[0].Flush(1), put(), put(), p.to[0].Flush(2), p.to[0].Flush(3)); err != nil {
		t.Fatal(err)
	}
	p.logs[0].open = map[fabric.Op]int{1: 1, 2: 1, 3: 1}
	for moves := slices.Clone(p.Moves()); len(moves) > 0; moves = slices.Clone(p.Moves()) {
		p.Do(moves[len(moves)-1])
		if len(p.Moves()) >= len(moves) && len(moves) > 2 {
			t.Fatalf("a NoOp was not carried out: %v", p.Moves())
		}
	}
	told := &ended{simLog: p.logs[0], errs: map[fabric.Op]error{}}
	p.ds[0].Poll(told, 8)
	if len(told.errs) != 3 || told.errs[1] != nil || !errors.Is(told.errs[2], mem.ErrSim) || told.errs[3] != nil {
		t.Errorf("Flushes end with %v", told.errs)
	}
}

// ended keeps the errors of operations.
type ended struct {
	*simLog
	errs map[fabric.Op]error
}

func (e *ended) Complete(op fabric.Op, err error) {
	e.errs[op] = err
	e.simLog.Complete(op, err)
}
