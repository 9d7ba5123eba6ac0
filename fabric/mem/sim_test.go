package mem_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// simLog checks what one rank of a Sim is handed.
type simLog struct {
	t     *testing.T
	rank  int
	last  []uint64 // number of the last message from each
	open  map[fabric.Op]int
	down  []bool
	lines *[]string
}

func (l *simLog) note(format string, args ...any) {
	*l.lines = append(*l.lines, fmt.Sprint(l.rank)+" "+fmt.Sprintf(format, args...))
}

func (l *simLog) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	l.note("deliver %d %d %d", from, imm, len(body))
	if imm != l.last[from]+1 {
		l.t.Errorf("rank %d: message %d from %d after %d", l.rank, imm, from, l.last[from])
	}
	if l.last[from] = imm; l.down[from] {
		l.t.Errorf("rank %d: a message from %d, which is down", l.rank, from)
	}
	if !bytes.Equal(body, bytes.Repeat([]byte{byte(imm)}, len(body))) || len(hdr) != int(imm%4) {
		l.t.Errorf("rank %d: message %d from %d has header %x, body %x", l.rank, imm, from, hdr, body)
	}
}

func (l *simLog) Complete(op fabric.Op, err error) {
	l.note("complete %d %v", op, err)
	to, ok := l.open[op]
	if !ok {
		l.t.Errorf("rank %d: operation %d ends twice, or never began", l.rank, op)
	}
	if delete(l.open, op); l.down[to] {
		l.t.Errorf("rank %d: operation %d with %d ends after its death", l.rank, op, to)
	}
}

func (l *simLog) PeerDown(p fabric.Peer, err error) {
	l.note("down %d %v", p, err)
	if l.down[p] || !errors.Is(err, fabric.ErrPeerDown) {
		l.t.Errorf("rank %d: PeerDown(%d, %v), down before: %t", l.rank, p, err, l.down[p])
	}
	l.down[p] = true
	for op, to := range l.open {
		if to == int(p) {
			l.t.Errorf("rank %d: operation %d with %d is open at its death", l.rank, op, p)
		}
	}
}

// simulate drives a Sim at random and returns what happened.
func simulate(t *testing.T, seed uint64) (lines []string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	const size = 3
	c := mem.DrawSim(rng, size)
	s := mem.NewSim(rng, c)
	var logs [size]*simLog
	var ds [size]fabric.Domain
	var eps [size][size]fabric.Endpoint
	var sent [size][size]uint64
	var remote [size]fabric.Region
	for i := range size {
		logs[i] = &simLog{t: t, rank: i, last: make([]uint64, size), open: map[fabric.Op]int{}, down: make([]bool, size), lines: &lines}
		d, err := s.Open(s.Config(i))
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = d
		for j := range size {
			if eps[i][j], err = d.Connect(fabric.Peer(j), s.Addrs()[j]); err != nil {
				t.Fatal(err)
			}
		}
		if remote[i], err = d.Register(bytes.Repeat([]byte{byte(10 + i)}, 64), fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic); err != nil && !errors.Is(err, mem.ErrSim) {
			t.Fatal(err)
		}
	}
	dead := -1
	for op := range fabric.Op(600) {
		i, j := rng.IntN(size), rng.IntN(size)
		if i == dead {
			continue
		}
		// begun takes the answer of an operation.
		begun := func(what string, op fabric.Op, err error) {
			if err == nil && op != fabric.NoOp {
				logs[i].open[op] = j
			}
			logs[i].note("%s %d: %v", what, j, err)
		}
		switch rng.IntN(10) {
		case 0, 1:
			n := sent[i][j] + 1
			err := eps[i][j].Send(1, n, make([]byte, n%4), bytes.Repeat([]byte{byte(n)}, rng.IntN(c.Caps.MaxEager+1)))
			if err == nil {
				sent[i][j]++
			}
			logs[i].note("send %d: %v", j, err)
			if j != dead && sent[i][j]-logs[j].last[i] > uint64(c.Depth) {
				t.Errorf("%d messages are under way from %d to %d, the most is %d", sent[i][j]-logs[j].last[i], i, j, c.Depth)
			}
		case 2:
			begun("get", op, eps[i][j].Get(fabric.Segment{Bytes: make([]byte, 64)}, remote[j].Remote, op))
		case 3:
			logs[i].note("poll %d", ds[i].Poll(logs[i], 1+rng.IntN(8)))
		case 4:
			s.Step()
		case 5:
			if dead < 0 && rng.IntN(100) == 0 {
				dead = i
				s.Kill(i)
			}
		case 6:
			word := remote[j].Remote
			word.Len = 8
			begun("atomic", op, eps[i][j].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1}, word, op))
		case 7:
			if rng.IntN(2) == 0 {
				op = fabric.NoOp
			}
			begun("put", op, eps[i][j].Put(fabric.Segment{Bytes: make([]byte, 8)}, remote[j].Remote, op))
		case 8:
			begun("flush", op, eps[i][j].Flush(op))
		case 9:
			if rng.IntN(4) == 0 && dead != j && i != j {
				logs[i].note("arm: %v", ds[i].Arm(fabric.WakeAll))
				eps[j][i].Knock(false)
			}
		}
	}
	s.Calm()
	for !s.Quiet() {
		s.Step()
		for i, d := range ds {
			d.Poll(logs[i], 64)
		}
	}
	for i, l := range logs {
		for j := range size {
			if i == dead || j == dead {
				continue
			}
			if l.last[j] != sent[j][i] {
				t.Errorf("seed %d: %d of %d messages from %d came to %d", seed, l.last[j], sent[j][i], j, i)
			}
		}
		if i != dead && len(l.open) > 0 {
			t.Errorf("seed %d: %d operations of rank %d have not ended", seed, len(l.open), i)
		}
		if dead >= 0 && i != dead && !l.down[dead] {
			t.Errorf("seed %d: rank %d was not told of a death", seed, i)
		}
	}
	for _, d := range ds {
		d.Close()
	}
	return lines
}

func TestASimKeepsTheContract(t *testing.T) {
	for seed := range uint64(300) {
		simulate(t, seed)
	}
}

func TestASimRepeatsItself(t *testing.T) {
	for seed := range uint64(20) {
		if a, b := simulate(t, seed), simulate(t, seed); !slices.Equal(a, b) {
			t.Errorf("seed %d gives another run the second time", seed)
		}
	}
}

func TestWhatIsSentInASimWaitsForItsMove(t *testing.T) {
	s := mem.NewSim(rand.New(rand.NewPCG(0, 0)), mem.SimConfig{Size: 2, Depth: 2, Caps: fabric.Caps{MaxEager: 8, Get: true, Put: true}})
	var lines []string
	l := &simLog{t: t, rank: 1, last: make([]uint64, 2), open: map[fabric.Op]int{7: 0}, down: make([]bool, 2), lines: &lines}
	a, _ := s.Open(s.Config(0))
	b, _ := s.Open(s.Config(1))
	to, err := a.Connect(1, s.Addrs()[1])
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(3) {
		want := error(nil)
		if n == 2 {
			want = fabric.ErrAgain
		}
		if err := to.Send(1, n+1, make([]byte, (n+1)%4), nil); err != want {
			t.Errorf("Send %d: %v, want %v", n, err, want)
		}
	}
	if n := b.Poll(l, 8); n != 0 {
		t.Errorf("Poll found %d messages that are on their way", n)
	}
	s.Do(mem.SimMove{Kind: mem.MoveArrive, Rank: 1, Peer: 0})
	if n := b.Poll(l, 8); n != 1 {
		t.Errorf("Poll found %d messages, 1 has arrived", n)
	}
	mine := []byte{1, 2, 3, 4}
	reg, err := a.Register(mine, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	from, err := b.Connect(0, s.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	bad := reg.Remote
	bad.Len++
	if err := from.Get(fabric.Segment{Bytes: make([]byte, 5)}, bad, 7); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("Get of too much: %v", err)
	}
	if err := from.Get(fabric.Segment{Bytes: got}, reg.Remote, 7); err != nil {
		t.Fatal(err)
	}
	mine[0] = 9 // as late as can be
	s.Do(mem.SimMove{Kind: mem.MoveTransfer, Rank: 1, Peer: 0, Op: 7})
	if b.Poll(l, 8); !bytes.Equal(got, []byte{9, 2, 3, 4}) || len(l.open) > 0 {
		t.Errorf("Get has read %v, %d operations are open", got, len(l.open))
	}
	if err := to.Send(1, 0, nil, make([]byte, 9)); !errors.Is(err, fabric.ErrTooLong) {
		t.Errorf("Send of too much: %v", err)
	}
	a.Close()
	if err := to.Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	if err := a.Wait(0); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
	b.Close()
}
