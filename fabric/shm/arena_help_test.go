package shm

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func TestBothEndsCopyALargeMessageBetweenArenas(t *testing.T) {
	p := newPair(t)
	const n = 3<<20 + 5
	src, dst := allocOrFail(t, n), allocOrFail(t, n+64)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = byte(rnd.Uint32())
	}
	canary := bytes.Repeat([]byte{0xA5}, 64)
	copy(dst[n:], canary)
	reg, err := p.n[0].d.Register(src, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	local, err := p.n[1].d.Register(dst[:n], fabric.LocalWrite)
	if err != nil {
		t.Fatal(err)
	}
	const op = fabric.Op(7)
	if err := p.ep[1].Get(fabric.Segment{Bytes: dst[:n], Region: local}, reg.Remote, op); err != nil {
		t.Fatal(err)
	}
	helped := false
	for range 10_000 {
		p.n[0].d.Poll(p.n[0], 64)
		helped = helped || len(p.n[0].d.helps) > 0
		p.n[1].d.Poll(p.n[1], 64)
		if _, ok := p.n[1].done[op]; ok {
			break
		}
	}
	if err, ok := p.n[1].done[op]; !ok || err != nil {
		t.Fatalf("the Get has ended: %t, %v", ok, err)
	}
	if !helped {
		t.Error("the owner of the memory did not help")
	}
	if !bytes.Equal(dst[:n], src) {
		t.Error("the bytes differ")
	}
	if !bytes.Equal(dst[n:], canary) {
		t.Error("bytes behind the buffer were written")
	}
}

func TestAPeerNamesOnlyMemoryInsideTheArena(t *testing.T) {
	a := processArena()
	b := allocOrFail(t, 8192)
	off, _ := a.offset(b)
	size := a.size.Load()
	if got, err := a.at(off, 8192); err != nil || &got[0] != &b[0] {
		t.Errorf("its own memory: %v", err)
	}
	for what, r := range map[string][2]uint64{
		"across the end": {size - 8, 16},
		"a byte across":  {size - 8, 9},
		"at the end":     {size, 1},
		"behind the end": {size + 1, 0},
		"overflowing":    {8, 1<<64 - 4},
	} {
		if _, err := a.at(r[0], r[1]); !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("%s: %v, want ErrBadRemote", what, err)
		}
	}
}

func allocOrFail(t testing.TB, n int) []byte {
	t.Helper()
	b, err := Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Free(b) })
	return b
}
