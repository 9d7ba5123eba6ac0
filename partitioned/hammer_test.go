package partitioned

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/tcp"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// pair makes the engines of two ranks over a transport.
func pair(t testing.TB, p fabric.Provider, threads bool) (es [2]*Engine) {
	t.Helper()
	if err := p.Available(); err != nil {
		t.Skip(err)
	}
	var ds [2]fabric.Domain
	var addrs [][]byte
	for i := range ds {
		d, err := p.Open(fabric.Config{Rank: fabric.Peer(i), Size: 2, Job: "partitioned-" + t.Name(), Log: slog.New(slog.DiscardHandler), Unattended: !threads})
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = d
		addrs = append(addrs, d.Addr())
	}
	for i, d := range ds {
		l := progress.New(progress.Config{Domain: d, Addrs: addrs, Log: slog.New(slog.DiscardHandler), Ranks: 2, NoThread: !threads})
		es[i] = New(l, i)
		l.Go()
		t.Cleanup(func() { l.Close() })
	}
	return es
}

// transports are those that join ranks of one process.
func transports() map[string]func() fabric.Provider {
	return map[string]func() fabric.Provider{
		"mem": func() fabric.Provider { return mem.NewNetwork(2).Provider() },
		"shm": func() fabric.Provider { return shm.Provider{} },
		"tcp": func() fabric.Provider { return tcp.Provider{} },
	}
}

// A hundred goroutines make partitions of one send ready at once, and others watch
// them arrive, over rounds: whatever has arrived has its bytes.
func TestManyGoroutinesMakePartitionsReady(t *testing.T) {
	for name, open := range transports() {
		for _, part := range []int{8, 2400, 1 << 16} { // packets, blocks of several partitions, blocks of one
			for _, c := range steps {
				t.Run(fmt.Sprintf("%s/%d/%s", name, part, c.name), func(t *testing.T) { manyReady(t, open(), part, c.out, c.in) })
			}
		}
	}
}

func manyReady(t *testing.T, p fabric.Provider, part, outStep, inStep int) {
	const goroutines, sends, recvs, watchers = 100, 400, 100, 4
	parts, rounds := sends, 12
	if part == 1<<16 {
		parts, rounds = goroutines, 4 // 6 MB
	}
	if testing.Short() || outStep+inStep > 2 {
		rounds = 3
	}
	es := pair(t, p, true)
	ctx := t.Context()
	out, in := newPlace(parts*part, outStep), newPlace(parts*part, inStep)
	s, r := es[0].PsendInitData(ctx, 1, 2, 0, out.data(), parts), es[1].PrecvInitData(ctx, 0, 2, 0, in.data(), recvs)
	for round := range rounds {
		must(t, progress.Restart(s.h))
		if round%2 == 0 {
			must(t, progress.Restart(r.h))
		}
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for i := g; i < parts; i += goroutines {
					out.fill(i*part, (i+1)*part, byte(i+7*round))
					must(t, s.Ready(i, i))
				}
			})
		}
		if round%2 == 1 {
			must(t, progress.Restart(r.h))
		}
		for range watchers {
			all.Go(func() { watch(t, r, in, part, round) })
		}
		all.Wait()
		for _, h := range []*progress.Handle{&s.h, &r.h} {
			_, err := progress.Wait(h)
			must(t, err)
		}
	}
	if n := s.writing.Load() + s.lent.Load(); n != 0 {
		t.Errorf("%d blocks are being sent after the end", n)
	}
	must(t, in.gaps())
}

// watch polls all partitions until they have arrived, and checks each once it has.
func watch(t *testing.T, r *Recv, in *place, part, round int) {
	size := in.size / r.parts
	for left, i := r.parts, 0; left > 0; i = (i + 1) % r.parts {
		there, err := r.Arrived(i)
		if err != nil {
			t.Errorf("Arrived(%d): %v", i, err)
			return
		}
		if !there {
			left = r.parts
			continue
		}
		left--
		for at := i * size; at < (i+1)*size; at += max(part/4, 1) {
			if want := byte(at/part + 7*round); in.at(at) != want {
				t.Errorf("partition %d of round %d has arrived with byte %d at %d, want %d", i, round, in.at(at), at, want)
				return
			}
		}
	}
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Error(err)
	}
}

// A block leaves whichever comes last, the partitions or the receiver.
func TestABlockLeavesWhoeverComesLast(t *testing.T) {
	const parts = 64 * 512 // of no bytes: Ready takes a while
	net := mem.NewNetwork(2)
	p := net.Provider()
	other, err := p.Open(fabric.Config{Rank: 1, Size: 2, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mine, err := p.Open(fabric.Config{Rank: 0, Size: 2, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l := progress.New(progress.Config{Domain: mine, Addrs: [][]byte{mine.Addr(), other.Addr()}, Log: slog.New(slog.DiscardHandler), NoThread: true})
	e := New(l, 0)
	l.Go()
	defer l.Close()
	s := e.PsendInit(t.Context(), 1, 2, 0, nil, parts)
	if s.shape.blocks() != 1 {
		t.Fatalf("%d blocks, want 1", s.shape.blocks())
	}
	tell := func(kind uint8, hdr []byte) { l.Exclusive(func() { l.Deliver(1, kind, s.name, hdr, nil) }) }
	tell(wire.PAccept, wire.MakePAccept(make([]byte, fabric.MaxHeader), wire.PartRecv{Channel: 1, Parts: 1}))
	rounds := uint32(3000)
	if testing.Short() {
		rounds = 500
	}
	for round := uint32(1); round <= rounds; round++ {
		must(t, progress.Restart(s.h))
		var here atomic.Int32
		meet := func() {
			for here.Add(1); here.Load() < 2; {
				runtime.Gosched()
			}
		}
		var both sync.WaitGroup
		both.Go(func() {
			hdr := wire.MakePBlocks(make([]byte, fabric.MaxHeader), round, 0, 0, 0)
			meet()
			for range round * 37 % 9000 { // now before, now amid, now after the other
				here.Load()
			}
			tell(wire.PGo, hdr)
		})
		both.Go(func() {
			meet()
			must(t, s.Ready(0, parts-1))
		})
		both.Wait()
		for other.Poll(deaf{}, 64) > 0 {
		}
		if ended, _, err := progress.Test(&s.h); !ended || err != nil {
			t.Fatalf("round %d: all is ready and the receiver has begun: ended %t, %v", round, ended, err)
		}
	}
}

// deaf is a peer that takes packets and makes nothing of them.
type deaf struct{}

func (deaf) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (deaf) Complete(fabric.Op, error)                          {}
func (deaf) PeerDown(fabric.Peer, error)                        {}

// Once the channel stands Ready allocates nothing, whether the receiver has begun
// or not.
func TestReadyDoesNotAllocate(t *testing.T) {
	const parts, part = 4096, 64
	for name, open := range transports() {
		for _, c := range steps {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				es := pair(t, open(), false)
				out, in := newPlace(parts*part, c.out), newPlace(parts*part, c.in)
				s, r := es[0].PsendInitData(t.Context(), 1, 2, 0, out.data(), parts), es[1].PrecvInitData(t.Context(), 0, 2, 0, in.data(), 1)
				hs := []progress.Handle{s.h, r.h}
				for round := range 4 {
					must(t, progress.Restart(s.h))
					i := 0
					ready := func() {
						must(t, s.Ready(i, i))
						i++
					}
					early := testing.AllocsPerRun(parts/4, ready)
					must(t, progress.Restart(r.h))
					for s.began.Load() != s.round.Load() {
						turn(t, hs)
					}
					late := testing.AllocsPerRun(parts/4, ready)
					must(t, s.Ready(i, parts-1))
					for s.active || r.active {
						turn(t, hs)
					}
					if round > 1 && (early != 0 || late != 0) {
						t.Errorf("round %d: Ready allocates %v times before the receiver has begun, %v times after", round, early, late)
					}
					for i := range hs {
						_, err := progress.Wait(&hs[i])
						must(t, err)
					}
				}
			})
		}
	}
}

// turn turns the loops of some requests.
func turn(t *testing.T, hs []progress.Handle) {
	for _, h := range hs {
		if _, _, err := progress.Peek(h); err != nil {
			t.Fatal(err)
		}
	}
	runtime.Gosched()
}

// A million rounds take no more memory, and no more goroutines, than a thousand.
func TestRestartsTakeNoMemory(t *testing.T) {
	const parts, part = 4, 16
	rounds := 1_000_000
	if testing.Short() {
		rounds = 10_000
	}
	es := pair(t, mem.NewNetwork(2).Provider(), false)
	out, in := make([]byte, parts*part), make([]byte, parts*part)
	s, r := es[0].PsendInit(context.Background(), 1, 2, 0, out, parts), es[1].PrecvInit(context.Background(), 0, 2, 0, in, 2)
	hs := []progress.Handle{s.h, r.h}
	round := func(n int) {
		must(t, progress.RestartAll(hs))
		fill(out, byte(n))
		must(t, s.Ready(1, 3))
		must(t, s.Ready(0, 0))
		for s.active || r.active {
			turn(t, hs)
		}
		for i := range hs {
			_, err := progress.Wait(&hs[i])
			must(t, err)
		}
		if in[0] != byte(n) || in[len(in)-1] != byte(n) {
			t.Fatalf("round %d has come as %x", n, in)
		}
	}
	measure := func() (heap uint64, goroutines int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	for n := range 1000 {
		round(n)
	}
	heap, goroutines := measure()
	for n := range rounds {
		round(n)
	}
	after, now := measure()
	if after > heap+256<<10 || now > goroutines+4 {
		t.Errorf("after %d rounds %d bytes and %d goroutines, before %d and %d", rounds, after, now, heap, goroutines)
	}
}
