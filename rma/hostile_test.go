package rma

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// hostileRow is the bytes of a fuzz input that make a packet.
const hostileRow = 16

var hostileKinds = []uint8{wire.RAcc, wire.RGet, wire.RCas, wire.RData, wire.RFlush, wire.RFlushed, wire.RRefused, wire.RPost, wire.RComplete,
	wire.RLock, wire.RPress, wire.RUnlock, wire.RGranted, wire.RDeclined, wire.RAccess, wire.RConflict,
	wire.RType, wire.RAccTyped, wire.RGetTyped, wire.RAccessTyped}

// FuzzPackets feeds a rank packets of another one that keeps to no protocol, while it
// waits for operations, flushes, locks and signals. Nothing panics, no byte outside of
// its windows changes, and once the peer is down nothing is left.
func FuzzPackets(f *testing.F) {
	for k := range byte(len(hostileKinds)) {
		row := make([]byte, hostileRow)
		row[0] = k
		f.Add(row)
	}
	f.Fuzz(hostileSession)
}

// Random sessions, of which most packets are nearly right.
func TestNoPacketOfAHostilePeerHarms(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 8))
		rows := make([]byte, hostileRow*(1+r.IntN(40)))
		for i := range rows {
			rows[i] = byte(r.Uint32())
		}
		hostileSession(t, rows)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// hostileTypes are encoded types: good ones, whose elements lie within the part or not.
var hostileTypes = func() (all [][]byte) {
	for _, t := range []*datatype.Type{
		numbered(3, 2, 0), numbered(2, 3, -1), numbered(4, -1, 3), blocks(3, 0, 7, 21), blocks(1, 5, 5), blocks(8, 1<<40, 0),
		must(datatype.Vector(3, 1, 2, datatype.Of(datatype.Int16))), must(datatype.Resized(datatype.Of(datatype.Int64), 0, 0)), must(datatype.Contiguous(1<<60, datatype.Of(datatype.Byte))),
		must(datatype.Struct([]int{1, 1}, []int{0, 12}, []*datatype.Type{datatype.Of(datatype.Float64), datatype.Of(datatype.Int32)})), must(datatype.Contiguous(0, datatype.Of(datatype.Int64))),
		must(datatype.Contiguous(2, datatype.Of(datatype.DoubleInt))), must(datatype.Resized(numbered(2, 2, 0), -8, -24)),
		datatype.Of(datatype.Packed),
	} {
		all = append(all, t.Encode(nil))
	}
	return all
}()

// hostileID is a number of a type: most are from few.
func hostileID(b byte) uint32 {
	if n := len(hostileTypes) + 2; b < 240 {
		return maxTypes + uint32(int(b)%n)
	}
	return uint32(near(b|3, 64, 1, 1<<32-1))
}

// near is a number that is often one of those that matter.
func near(b byte, all ...uint64) uint64 {
	v := all[int(b>>3)%len(all)]
	switch b % 8 {
	case 0:
		return v + 1
	case 1:
		return v - 1
	case 2:
		return v | 1<<63
	}
	return v
}

func hostileSession(t *testing.T, rows []byte) {
	rows = rows[:min(len(rows), 60*hostileRow)]
	m, err := newMesh(t.Name(), 2, 64, memNetworks(2), func(a, b int) way { return packets }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	const size, guard = 96, 64
	whole, attachedTo := alignedBytes(size+2*guard), alignedBytes(size+2*guard)
	mem, own := whole[guard:guard+size:guard+size], attachedTo[guard:guard+size:guard+size]
	static, err := m.window(16, [][]byte{mem, make([]byte, size)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	dynamic, err := m.window(32, nil, Dynamic)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := m.window(48, [][]byte{make([]byte, 8), make([]byte, 8)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := m.checked(64, size)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := dynamic[0].Attach(own)
	if err != nil {
		t.Fatal(err)
	}
	stuck, e := make(chan struct{}), m.engines[0]
	held := make(chan struct{})
	go m.loops[1].Exclusive(func() { close(held); <-stuck }) // so that rank 1 answers nothing
	<-held
	defer close(stuck)

	ended := make(chan error, 8)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got := make([]byte, size)
	static[0].LockAll(ctx, NoCheck)
	for _, x := range []*Transfer{{Old: got, Target: 1}, {Src: pattern(8, 1, 1), Target: 1},
		{Kind: op.Int64, Src: pattern(8, 1, 1), Compare: pattern(8, 1, 2), Old: make([]byte, 8), Target: 1}} {
		if err := static[0].Do(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(dynamic[0].Post([]int{1}, 0), checked[0].LockAll(ctx, NoCheck), checked[0].Do(&Transfer{Src: pattern(8, 1, 1), Target: 0, At: 8})); err != nil {
		t.Fatal(err)
	}
	for _, call := range []func() error{
		func() error { return static[0].FlushAll(ctx, false) },
		func() error { return dynamic[0].Wait(ctx) },
		func() error { return locked[0].Lock(ctx, true, 1, 0) },
	} {
		go func() { ended <- call() }()
	}
	for i, code := range hostileTypes {
		e.loop.Exclusive(func() {
			e.loop.Deliver(1, wire.RType, 0, wire.MakeRType(e.hdr[:], maxTypes+uint32(i), 0, uint32(len(code))), code)
		})
	}
	for ; len(rows) >= hostileRow; rows = rows[hostileRow:] {
		e.loop.Exclusive(func() { m.hostile(e, rows, addr, size) })
	}
	e.loop.Exclusive(func() { e.loop.EndPeer(1, &fabric.Error{Op: "test", Peer: 1, HasPeer: true, Err: fabric.ErrPeerDown}) })
	for range 3 {
		<-ended
	}
	for _, b := range [][]byte{whole, attachedTo} {
		if !bytes.Equal(b[:guard], make([]byte, guard)) || !bytes.Equal(b[guard+size:], make([]byte, guard)) {
			t.Error("bytes outside of the window have changed")
		}
	}
	if err := m.idle(0); err != nil {
		t.Error(err)
	}
	for _, err := range []error{checked[0].Sync(), checked[0].Conflicts()} {
		if err != nil && (!errors.As(err, new(*ConflictError)) || err.Error() == "") {
			t.Error(err)
		}
	}
}

// checked makes a window with separate memory.
func (m *mesh) checked(id uint32, size int) ([]*Win, error) {
	m.line = func(int) string { return "a line" }
	defer func() { m.line = nil }()
	return m.window(id, [][]byte{make([]byte, size), make([]byte, size)}, 1)
}

// hostile delivers the packet of a row.
func (m *mesh) hostile(e *Engine, row []byte, addr, size uint64) {
	var hdr [fabric.MaxHeader]byte
	le := binary.LittleEndian
	imms := []uint64{16, 32, 48, 64, 80}
	requests := []uint64{0}
	for _, o := range e.ops {
		if o != nil {
			requests = append(requests, uint64(o.r.Op()))
		}
	}
	request := near(row[8]|3, requests...)
	kind := hostileKinds[int(row[0])%len(hostileKinds)]
	base := uint64(0)
	imm := near(row[1], imms...)
	if imm == 32 {
		base = addr
	}
	piece := wire.Piece{At: base + near(row[2], 0, 0, 8, size/2, size), Offset: near(row[3], 0, 0, 8, 16, 1<<40), Total: near(row[4], 8, 16, size, size, 1<<40),
		Code: row[5] % 15, Kind: row[6] % 16}
	if row[15]%4 > 0 { // within the operation
		piece.At += piece.Offset
	}
	body := pattern(int(row[7])%130, 3, 4)
	if row[7]%4 == 0 {
		body = body[:min(8, len(body))]
	}
	var h []byte
	switch kind {
	case wire.RAcc:
		h = wire.MakeRAcc(hdr[:], piece)
	case wire.RGet, wire.RCas:
		h = wire.MakeRGet(hdr[:], piece, near(row[9], 8, uint64(len(body)), uint64(len(body)/2), 64), request)
	case wire.RData:
		h, imm = wire.MakeNumber(hdr[:], near(row[3], 0, 8, 64, size)), request
	case wire.RFlush:
		h = wire.MakeNumber(hdr[:], request)
	case wire.RFlushed, wire.RRefused:
		h, imm = wire.MakeRRefused(hdr[:], piece.At, near(row[9], 0, 8, 32, size)), request
	case wire.RPost, wire.RComplete:
	case wire.RAccess:
		x := wire.Access{At: near(row[2], 0, 0, 8, size/2, size), Bytes: near(row[4], 8, 16, 16, size, 1<<40), Phase: near(row[3], 0, 1, 1<<40), Call: row[9] % 9,
			Code: row[5] % 15, Kind: row[6] % 16, Ends: row[12] % 5}
		if x.Call <= 2 { // a Put or Get
			x.Code, x.Kind = 0, 0
		}
		h, imm = wire.MakeRAccess(hdr[:], x), near(row[1]|3, 64)
	case wire.RConflict:
		x := wire.Conflict{At: piece.At, Bytes: near(row[4], 8, 16), Split: uint16(near(row[3], 0, 8, uint64(len(body))))}
		for i := range x.Parties {
			x.Parties[i] = wire.Party{Rank: uint32(near(row[12+i]|3, 0, 1, 1, 2)), Call: row[9+i] % 8, Code: row[5] % 20, Kind: row[6] % 16}
			if c := x.Parties[i].Call; c <= 2 || c > 5 { // a Put, a Get or a store
				x.Parties[i].Code, x.Parties[i].Kind = row[5]%2, 0
			}
		}
		h, imm = wire.MakeRConflict(hdr[:], x), near(row[1]|3, 64)
	case wire.RType:
		body = hostileTypes[int(row[7])%len(hostileTypes)]
		total := uint32(len(body))
		offset := uint32(near(row[3]|3, 0, 0, 0, 4))
		switch row[12] % 8 {
		case 0: // a piece
			body = body[:min(4, len(body))]
		case 1: // the rest
			offset, body = min(4, total-1), body[min(4, len(body)):]
		case 2: // anything
			body = pattern(len(body), int(row[9]), int(row[5]))
		}
		h, imm = wire.MakeRType(hdr[:], hostileID(row[2]), offset, uint32(near(row[4]|3, uint64(total), uint64(total), wire.MaxType, 1<<30))), 0
	case wire.RAccTyped, wire.RGetTyped, wire.RAccessTyped:
		exact := byte(3)
		if row[14]%4 == 0 {
			exact = 0
		}
		p := wire.TypedPiece{At: base + near(row[2]|exact, 0, 0, 24, size/2, size), Count: near(row[4]|exact, 1, 1, 1, 2, 3, 1<<40), Offset: near(row[3]|exact, 0, 0, 0, 8, 16, 1<<40),
			Type: hostileID(row[9]), Code: row[5] % 15, Kind: row[6] % 24}
		switch body = body[:min(len(body), 8*int(row[13]%5))]; row[15] % 4 {
		case 0, 1: // a Put or Get
			p.Code, p.Kind = 0, 0
		case 2:
			p.Code, p.Kind = 1+row[5]%12, uint8(op.Int64)
		}
		n := near(row[12]|3, 8, uint64(len(body)), uint64(len(body)), uint64(len(body)), 64)
		switch kind {
		case wire.RAccTyped:
			h = wire.MakeRAccTyped(hdr[:], p)
		case wire.RGetTyped:
			h = wire.MakeRGetTyped(hdr[:], p, n, request)
		default:
			h, imm = wire.MakeRAccessTyped(hdr[:], p, n, wire.Access{Phase: near(row[3], 0, 1, 1<<40), Call: row[13] % 9, Ends: row[14] % 5}), near(row[1]|3, 64)
		}
	default:
		h = wire.MakeRLock(hdr[:], row[3]%2 > 0, row[4]%8, row[5]%2 > 0, uint32(near(row[6], 0, 1, 2)))
	}
	switch row[10] % 16 {
	case 0: // a header that is cut off
		h = h[:len(h)*int(row[11])/256]
	case 1: // or is anything
		if len(h) > 8 {
			le.PutUint64(h[int(row[11])%(len(h)-8):], le.Uint64(row[8:]))
		}
	}
	e.loop.Deliver(1, kind, imm, h, body) // which drops what comes of a rank that is down
}
