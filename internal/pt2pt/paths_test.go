package pt2pt

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

const (
	world = 4 // a context
	tag   = 7
)

// path is a way a message can take: the length that makes it take it, and
// which packets show that it did.
type path struct {
	name  string
	n     int
	noGet bool
	kinds []uint8 // of the sender
	gets  bool
	// Get, or where puts is set Put, fails amid the transfer for good.
	partly, puts bool
}

// engines are a sender and a receiver that take the path.
func (p path) engines(g *rig) (a, b *engine) {
	a = g.engine(0, func(s *spy) { s.partly = p.partly })
	b = g.engine(1, func(s *spy) {
		s.noGet, s.partly = p.noGet, p.partly
		s.caps = func(c *fabric.Caps) { c.PutFirst = p.puts }
	})
	return a, b
}

var paths = []path{
	{name: "empty", n: 0, kinds: []uint8{wire.Eager}},
	{name: "one line", n: 48, kinds: []uint8{wire.Eager}},
	{name: "eager", n: 8192, kinds: []uint8{wire.Eager}},
	{name: "chunks", n: 8193, kinds: []uint8{wire.EagerFirst, wire.EagerMore}},
	{name: "many chunks", n: 16383, kinds: []uint8{wire.EagerFirst, wire.EagerMore}},
	{name: "get", n: 16384, kinds: []uint8{wire.RTS}, gets: true},
	{name: "large get", n: 1<<20 + 1, kinds: []uint8{wire.RTS}, gets: true},
	{name: "fragments", n: 16384, noGet: true, kinds: []uint8{wire.RTS, wire.Data}},
	{name: "many fragments", n: 1<<20 + 1, noGet: true, kinds: []uint8{wire.RTS, wire.Data}},
	{name: "fragments after a Get", n: 1<<20 + 1, partly: true, kinds: []uint8{wire.RTS, wire.Data}},
	{name: "fragments after a Put", n: 1<<20 + 1, partly: true, puts: true, kinds: []uint8{wire.RTS, wire.Data}},
}

// A buffer may be as long as the message, longer, or shorter: the message is
// consumed all the same, and nothing behind the buffer is touched.
var rooms = []struct {
	name string
	of   func(n int) int
}{
	{"exact", func(n int) int { return n }},
	{"longer", func(n int) int { return n + 100 }},
	{"shorter by one", func(n int) int { return max(n-1, 0) }},
	{"half", func(n int) int { return n / 2 }},
	{"a few bytes", func(n int) int { return min(n, 5) }},
	{"none", func(int) int { return 0 }},
}

func TestEveryPathCarriesExactBytes(t *testing.T) {
	for _, p := range paths {
		for _, room := range rooms {
			for _, posted := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/posted=%t", p.name, room.name, posted), func(t *testing.T) {
					carry(t, p, room.of(p.n), posted)
				})
			}
		}
	}
}

func carry(t *testing.T, p path, room int, posted bool) {
	g := newRig(t, 2)
	a, b := p.engines(g)
	const guard = 64
	memory := bytes.Repeat([]byte{0xee}, room+guard)
	out := pattern(p.n, 1)
	send := func() progress.Handle { return a.Isend(g.ctx, Standard, 1, world, tag, out) }

	var rh, sh progress.Handle
	if posted {
		rh = b.Irecv(g.ctx, 0, world, tag, memory[:room])
		a.must(b.Send(g.ctx, Standard, 0, world, 1, nil))
		_, err := a.Recv(g.ctx, 1, world, 1, nil)
		a.must(err)
		sh = send()
	} else {
		sh = send()
		a.must(a.Send(g.ctx, Standard, 1, world, 1, nil)) // does not overtake
		_, err := b.Recv(g.ctx, 0, world, 1, nil)
		a.must(err)
		b.own(func() {
			if b.match.Unexpected() != 1 {
				t.Fatalf("%d unexpected messages, want the one", b.match.Unexpected())
			}
		})
		rh = b.Irecv(g.ctx, 0, world, tag, memory[:room])
	}
	st, err := progress.Wait(&rh)
	if want := (progress.Status{Source: 0, Tag: tag, Bytes: uint64(p.n)}); st != want {
		t.Errorf("status %+v, want %+v", st, want)
	}
	var short *cause.TruncateError
	if room < p.n {
		if !errors.As(err, &short) || short.Length != uint64(p.n) || short.Room != uint64(room) {
			t.Errorf("error %v, want a TruncateError of %d into %d", err, p.n, room)
		}
	} else if err != nil {
		t.Error(err)
	}
	if _, err := progress.Wait(&sh); err != nil {
		t.Errorf("the send: %v", err)
	}
	n := min(room, p.n)
	if !bytes.Equal(memory[:n], out[:n]) {
		t.Error("other bytes arrived than were sent")
	}
	if !bytes.Equal(memory[n:], bytes.Repeat([]byte{0xee}, len(memory)-n)) {
		t.Error("bytes behind the message were touched")
	}
	// The way goes on.
	a.must(a.Send(g.ctx, Standard, 1, world, 2, out[:min(p.n, 100)]))
	if st, err := b.Recv(g.ctx, 0, world, 2, make([]byte, 100)); err != nil || st.Bytes != uint64(min(p.n, 100)) {
		t.Errorf("afterwards: %+v, %v", st, err)
	}
	a.own(func() {
		for _, k := range p.kinds {
			if a.spy.sent[k] == 0 && (k != wire.Data || n > 0) {
				t.Errorf("no packet of kind %#x was sent: the message took another path", k)
			}
		}
	})
	b.own(func() {
		if p.gets && n > 0 && b.spy.gets != 1 {
			t.Errorf("%d Gets, want 1", b.spy.gets)
		}
	})
	a.clean()
	b.clean()
}

// A wildcard receive takes any path too, and its status tells from where.
func TestAWildcardReceiveLearnsItsSourceOnEveryPath(t *testing.T) {
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			g := newRig(t, 2)
			a, b := p.engines(g)
			in := make([]byte, p.n)
			rh := b.Irecv(g.ctx, AnySource, world, AnyTag, in)
			a.must(a.Send(g.ctx, Standard, 1, world, 12, pattern(p.n, 3)))
			st, err := progress.Wait(&rh)
			if want := (progress.Status{Source: 0, Tag: 12, Bytes: uint64(p.n)}); st != want || err != nil {
				t.Errorf("status %+v, %v, want %+v", st, err, want)
			}
			if !bytes.Equal(in, pattern(p.n, 3)) {
				t.Error("other bytes arrived than were sent")
			}
			b.clean()
		})
	}
}

func TestARankSendsToItself(t *testing.T) {
	for _, n := range []int{0, 8, 8192, 8193, 1 << 20} {
		for _, room := range []int{n, n / 2, n + 1} {
			for _, posted := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d into %d/posted=%t", n, room, posted), func(t *testing.T) {
					g := newRig(t, 1)
					e := g.engine(0)
					memory := bytes.Repeat([]byte{0xee}, room+10)
					out := pattern(n, 2)
					var rh, sh progress.Handle
					if posted {
						rh = e.Irecv(g.ctx, AnySource, world, AnyTag, memory[:room])
						sh = e.Isend(g.ctx, Standard, 0, world, tag, out)
					} else {
						sh = e.Isend(g.ctx, Standard, 0, world, tag, out)
						rh = e.Irecv(g.ctx, 0, world, tag, memory[:room])
					}
					st, err := progress.Wait(&rh)
					if want := (progress.Status{Source: 0, Tag: tag, Bytes: uint64(n)}); st != want {
						t.Errorf("status %+v, want %+v", st, want)
					}
					var short *cause.TruncateError
					if errors.As(err, &short) != (room < n) || room >= n && err != nil {
						t.Errorf("error %v", err)
					}
					if _, err := progress.Wait(&sh); err != nil {
						t.Error(err)
					}
					k := min(n, room)
					if !bytes.Equal(memory[:k], out[:k]) || !bytes.Equal(memory[k:], bytes.Repeat([]byte{0xee}, len(memory)-k)) {
						t.Error("other bytes arrived than were sent, or more were touched")
					}
					e.clean()
				})
			}
		}
	}
}

// Send to oneself before Recv completes as far as it does towards others.
func TestAShortSendToOneselfDoesNotWaitForItsReceive(t *testing.T) {
	g := newRig(t, 1)
	e := g.engine(0)
	e.must(e.Send(g.ctx, Standard, 0, world, 1, pattern(100, 1)))
	in := make([]byte, 100)
	_, err := e.Recv(g.ctx, 0, world, 1, in)
	e.must(err)
	if !bytes.Equal(in, pattern(100, 1)) {
		t.Error("other bytes arrived than were sent")
	}
	e.clean()
}

func TestAMessageInChunksGoesOnIntoAReceivePostedHalfway(t *testing.T) {
	for _, room := range []int{9000, 10000, 100, 3000, 0} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			g := newRig(t, 2)
			e, peer := g.engine(0), g.raw(1)
			out := pattern(9000, 5)
			peer.send(0, wire.EagerFirst, wire.Imm(world, tag), first(9000), out[:2000])
			peer.send(0, wire.EagerMore, 0, nil, out[2000:4000])
			e.until("the first chunks", func() bool { return e.peers[1].in.got == 4000 })
			memory := bytes.Repeat([]byte{0xee}, room+10)
			rh := e.Irecv(g.ctx, 1, world, tag, memory[:room])
			peer.send(0, wire.EagerMore, 0, nil, out[4000:8000])
			peer.send(0, wire.EagerMore, 0, nil, out[8000:])
			st, err := progress.Wait(&rh)
			var short *cause.TruncateError
			if errors.As(err, &short) != (room < 9000) || st.Bytes != 9000 || st.Source != 1 || st.Tag != tag {
				t.Errorf("status %+v, error %v", st, err)
			}
			k := min(room, 9000)
			if !bytes.Equal(memory[:k], out[:k]) || !bytes.Equal(memory[k:], bytes.Repeat([]byte{0xee}, len(memory)-k)) {
				t.Error("other bytes arrived than were sent, or more were touched")
			}
			e.clean()
		})
	}
}

func TestMessagesDoNotOvertake(t *testing.T) {
	// Lengths of all paths, so that slower paths must hold up faster ones.
	lengths := []int{200 << 10, 0, 9000, 8, 20000, 48, 8192, 16000, 1}
	for _, opts := range [][]mem.Option{nil, {mem.WithDepth(2)}, {mem.WithSeed(1)}, {mem.WithSeed(2), mem.WithDepth(3)}} {
		for _, posted := range []bool{true, false} {
			t.Run(fmt.Sprintf("options=%d/posted=%t", len(opts), posted), func(t *testing.T) {
				g := newRig(t, 2, opts...)
				a, b := g.engine(0), g.engine(1)
				const rounds = 5
				bufs := make([][]byte, rounds*len(lengths))
				hs := make([]progress.Handle, len(bufs))
				recv := func() {
					for i := range bufs {
						bufs[i] = make([]byte, 200<<10)
						source, tg := 0, int32(tag)
						if i%2 == 1 {
							source, tg = AnySource, AnyTag
						}
						hs[i] = b.Irecv(g.ctx, source, world, tg, bufs[i])
					}
				}
				if posted {
					recv()
				}
				var shs []progress.Handle
				for i := range bufs {
					shs = append(shs, a.Isend(g.ctx, Standard, 1, world, tag, pattern(lengths[i%len(lengths)], i)))
				}
				if !posted {
					recv()
				}
				sts := make([]progress.Status, len(hs))
				a.must(progress.WaitAll(hs, sts))
				a.must(progress.WaitAll(shs, nil))
				for i, st := range sts {
					n := lengths[i%len(lengths)]
					if st.Err != nil || st.Bytes != uint64(n) || !bytes.Equal(bufs[i][:n], pattern(n, i)) {
						t.Fatalf("receive %d got %+v, want message %d of %d bytes", i, st, i, n)
					}
				}
				a.clean()
				b.clean()
			})
		}
	}
}

// MPI-4.0 §3.5: of the posted receives that match, the earliest takes the
// message; of the messages that match, the earliest is taken.
func TestWildcardsMatchInOrder(t *testing.T) {
	t.Run("posted", func(t *testing.T) {
		g := newRig(t, 2)
		a, b := g.engine(0), g.engine(1)
		kinds := []struct {
			source int
			tag    int32
		}{{AnySource, AnyTag}, {0, tag}, {AnySource, tag}, {0, AnyTag}, {0, tag}}
		bufs := make([][8]byte, len(kinds))
		hs := make([]progress.Handle, len(kinds))
		for i, k := range kinds {
			hs[i] = b.Irecv(g.ctx, k.source, world, k.tag, bufs[i][:])
		}
		for i := range kinds {
			a.must(a.Send(g.ctx, Standard, 1, world, tag, []byte{byte(i + 1)}))
		}
		a.must(progress.WaitAll(hs, nil))
		for i := range bufs {
			if bufs[i][0] != byte(i+1) {
				t.Errorf("receive %d took message %d", i, bufs[i][0]-1)
			}
		}
	})
	t.Run("unexpected", func(t *testing.T) {
		g := newRig(t, 2)
		a, b := g.engine(0), g.engine(1)
		for i := range 6 {
			a.must(a.Send(g.ctx, Standard, 1, world, int32(10+i%3), []byte{byte(i)}))
		}
		a.must(a.Send(g.ctx, Standard, 1, world+2, 0, nil))
		_, err := b.Recv(g.ctx, 0, world+2, 0, nil)
		a.must(err)
		for _, c := range []struct {
			source int
			tag    int32
			want   byte
		}{{0, 11, 1}, {AnySource, AnyTag, 0}, {0, AnyTag, 2}, {AnySource, 11, 4}, {0, AnyTag, 3}, {AnySource, AnyTag, 5}} {
			var in [1]byte
			st, err := b.Recv(g.ctx, c.source, world, c.tag, in[:])
			if err != nil || in[0] != c.want || int(st.Tag) != 10+int(c.want)%3 {
				t.Errorf("receive from %d with %d took message %d (%+v, %v), want %d", c.source, c.tag, in[0], st, err, c.want)
			}
		}
		b.clean()
	})
}

func TestContextsKeepMessagesApart(t *testing.T) {
	g := newRig(t, 2)
	a, b := g.engine(0), g.engine(1)
	a.must(a.Send(g.ctx, Standard, 1, 6, tag, []byte{6}))
	a.must(a.Send(g.ctx, Standard, 1, 8, tag, []byte{8}))
	for _, cid := range []uint32{8, 6} {
		var in [1]byte
		if _, err := b.Recv(g.ctx, AnySource, cid, AnyTag, in[:]); err != nil || in[0] != byte(cid) {
			t.Errorf("context %d got the message of %d, %v", cid, in[0], err)
		}
	}
}

// Memory that peers have mapped goes by Get from a smaller size on, other
// memory of that size does not; either way nothing stays registered.
func TestMemoryThatIsNotMappedStaysUnregisteredAfterAnEagerSend(t *testing.T) {
	g := newRig(t, 2)
	a, b := g.engine(0), g.engine(1)
	for _, n := range []int{4096, 8000, 9000, 16000} {
		h := a.Isend(g.ctx, Standard, 1, world, tag, make([]byte, n))
		_, err := b.Recv(g.ctx, 0, world, tag, make([]byte, n))
		a.must(err)
		_, err = progress.Wait(&h)
		a.must(err)
	}
	if n := a.spy.registered.Load(); n != 0 {
		t.Errorf("%d regions are registered after all sends have ended", n)
	}
	a.own(func() {
		if a.spy.sent[wire.RTS] != 0 {
			t.Error("memory that is not mapped was announced")
		}
	})
}
