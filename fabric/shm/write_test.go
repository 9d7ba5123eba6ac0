package shm

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// inWrite is a goroutine of rank 1 that has written to rank 0, which has ended rank
// 1 meanwhile, and that is about to ring for it.
type inWrite struct {
	p     *pair
	e     *endpoint  // rank 1's
	leave func()     // has it go on
	over  chan error // what Write has returned
}

// stopInWrite has goroutines write until rank 0 leaves in the middle of a block,
// which is most of the time.
func stopInWrite(t *testing.T) *inWrite {
	t.Helper()
	var fd atomic.Int64 // whose ring stops; each store and load stands alone
	there, goOn := make(chan struct{}, 1), make(chan struct{})
	leave := sync.OnceFunc(func() { close(goOn) })
	ring := ringBell
	instead(t, &ringBell, func(bell uintptr) {
		if fd.CompareAndSwap(int64(bell), -1) {
			there <- struct{}{}
			<-goOn
		}
		ring(bell)
	})
	target, src := allocOrFail(t, soloBlock), make([]byte, soloBlock)
	for {
		p := newPair(t)
		reg, err := p.n[0].d.Register(target, fabric.RemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		w := &inWrite{p: p, e: p.ep[1].(*endpoint), leave: leave, over: make(chan error, 1)}
		t.Cleanup(leave) // before the domains are closed
		fd.Store(int64(w.e.info.bell))
		var writes atomic.Int64
		go func() {
			var err error
			for ; err == nil; writes.Add(1) {
				err = w.e.Write(reg.Remote, src)
			}
			w.over <- err
		}()
		waitFor(t, "Writes", func() bool { return writes.Load() > 0 })
		p.n[0].d.End(1, fabric.ErrPeerDown)
		select {
		case <-there:
			return w
		case err := <-w.over: // it was between two of them
			if !errors.Is(err, fabric.ErrPeerDown) {
				t.Fatal(err)
			}
		}
	}
}

// The goroutine uses what Close unmaps and closes.
func TestCloseWaitsForAGoroutineInWrite(t *testing.T) {
	w := stopInWrite(t)
	if w.e.writers.TryLock() {
		t.Error("nothing keeps Close out")
		w.e.writers.Unlock()
	}
	var left atomic.Bool
	closed := make(chan bool, 1)
	go func() {
		w.p.n[1].d.Close()
		closed <- left.Load()
	}()
	waitFor(t, "Close", func() bool {
		if len(closed) > 0 {
			t.Fatal("Close has returned while a goroutine was in Write")
		}
		shut := !w.e.writers.TryRLock()
		if !shut {
			w.e.writers.RUnlock()
		}
		return shut
	})
	if err := w.e.Write(fabric.Remote{}, nil); err != fabric.ErrClosed {
		t.Errorf("Write in a domain that closes: %v, want ErrClosed", err)
	}
	left.Store(true)
	w.leave()
	if !<-closed {
		t.Error("Close has returned while a goroutine was in Write")
	}
	if err := <-w.over; !errors.Is(err, fabric.ErrPeerDown) && err != fabric.ErrClosed {
		t.Errorf("Write: %v", err)
	}
}

// A rank that ends a peer does not wait for its own goroutines that write to the
// peer's memory. The peer does.
func TestARankWaitsForTheGoroutinesOfAPeerThatHasEndedIt(t *testing.T) {
	instead(t, &sayAfter, 0)
	begin := func(t *testing.T, p *pair) (end func()) {
		e := p.ep[1].(*endpoint)
		tx, info := e.tx.mem, e.info
		if !mayWrite(tx, info) {
			t.Fatal("it may not write to a rank that has not left")
		}
		p.n[1].d.End(0, fabric.ErrPeerDown)
		return func() { wrote(tx, info) }
	}
	t.Run("in Poll", func(t *testing.T) {
		p := newPair(t)
		end := begin(t, p)
		for range 100 {
			p.n[0].d.Poll(p.n[0], 64)
		}
		if err := p.n[0].down[1]; err != nil {
			t.Errorf("PeerDown while the peer writes: %v", err)
		}
		end()
		p.until("PeerDown", func() bool { return p.n[0].down[1] != nil })
	})
	t.Run("in Close", func(t *testing.T) {
		var log records
		p := logged(t, &log)
		end := begin(t, p)
		var ended atomic.Bool
		closed := make(chan bool, 1)
		go func() {
			p.n[0].d.Close()
			closed <- ended.Load()
		}()
		waitFor(t, "Close to say whom it waits for", func() bool {
			if len(closed) > 0 {
				t.Fatal("Close has returned while the peer wrote")
			}
			return strings.Contains(log.String(), "rank=1")
		})
		ended.Store(true)
		end()
		if !<-closed {
			t.Error("Close has returned while the peer wrote")
		}
	})
}

func TestAWriteIsCheckedAsAPutIs(t *testing.T) {
	p := newPair(t)
	e := p.ep[1].(*endpoint)
	arena := allocOrFail(t, 4096)
	off, _ := p.n[0].d.arena.offset(arena)
	share, err := p.n[0].d.Share(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(share.Region.Remote, bytes.Repeat([]byte{9}, 64)); err != nil || share.Bytes[63] != 9 {
		t.Errorf("Write to shared memory: %v, the last byte is %d", err, share.Bytes[63])
	}
	for what, dst := range map[string]fabric.Remote{
		"memory that is too short":     {Addr: off, Len: 63, Key: keyArena},
		"an unknown key":               {Addr: off, Len: 64, Key: 77},
		"memory outside the arena":     {Addr: 1 << 40, Len: 64, Key: keyArena},
		"memory around the end":        {Addr: 1<<64 - 8, Len: 64, Key: keyArena},
		"memory beyond the file":       {Addr: 1<<36 - 64, Len: 64, Key: keyArena},
		"the domain's own words":       {Addr: offWake, Len: 64, Key: keyShare},
		"memory beyond what is shared": {Addr: controlSize - 63, Len: 64, Key: keyShare},
	} {
		if err := e.Write(dst, make([]byte, 64)); !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("Write to %s: %v, want ErrBadRemote", what, err)
		}
	}
}

// What CMA refuses has to be sent.
func TestAWriteThatCMARefusesIsUnsupported(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	e := p.ep[1].(*endpoint)
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	locked := fabric.Remote{Addr: addressOf(page), Len: uint64(len(page))}
	if err := e.Write(locked, make([]byte, 8)); !errors.Is(err, fabric.ErrUnsupported) || errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Write to memory that can't be written: %v, want ErrUnsupported", err)
	}
	good := make([]byte, 8)
	open := fabric.Remote{Addr: addressOf(good), Len: 8}
	if err := e.Write(open, []byte("bytesare")); err != nil || string(good) != "bytesare" {
		t.Errorf("Write: %v, and the memory has %q", err, good)
	}
	e.info.cma.Store(false)
	if err := e.Write(open, make([]byte, 8)); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Write without CMA: %v, want ErrUnsupported", err)
	}
	runtime.KeepAlive(good)
}

func TestAWriteBeforeTheConnectionStandsIsUnsupported(t *testing.T) {
	ds := openJob(t, 2)
	e := ds[0].(*Domain).endpoint(1)
	if err := e.Write(fabric.Remote{Len: 8, Key: keyShare, Addr: offShare}, make([]byte, 8)); err != fabric.ErrUnsupported {
		t.Errorf("Write: %v, want ErrUnsupported", err)
	}
	ds[0].Close()
	if err := e.Write(fabric.Remote{}, nil); err != fabric.ErrClosed {
		t.Errorf("Write after Close: %v, want ErrClosed", err)
	}
}

// Goroutines write to a process that is killed.
func TestAWriteToAProcessThatDiesFails(t *testing.T) {
	p := startRole(t, "target")
	w := p.ep
	var wg sync.WaitGroup
	var wrote, failed atomic.Int64
	var over atomic.Bool
	for g := range 4 {
		wg.Go(func() {
			at := fabric.Remote{Addr: p.memory.Addr + uint64(g)<<16, Len: 1 << 16, Key: p.memory.Key}
			for ; !over.Load(); runtime.Gosched() {
				switch err := w.Write(at, make([]byte, 1<<16)); {
				case err == nil:
					wrote.Add(1)
				case errors.Is(err, fabric.ErrPeerDown):
					failed.Add(1)
				default:
					t.Errorf("Write: %v, want ErrPeerDown", err)
					return
				}
			}
		})
	}
	defer wg.Wait()
	defer over.Store(true)
	waitFor(t, "Writes", func() bool { return wrote.Load() > 10 })
	p.kill()
	waitFor(t, "PeerDown", func() bool { p.n.d.Poll(p.n, 64); return p.n.down[1] != nil })
	if err := w.Write(p.memory, make([]byte, 8)); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Write after PeerDown: %v, want ErrPeerDown", err)
	}
	waitFor(t, "the goroutines' Writes to fail", func() bool { return failed.Load() > 100 })
}

// A view is used by the owner and by goroutines in Write, while the arena grows.
func TestAViewOfAnArenaIsForAnyGoroutine(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	fd, err := unix.FcntlInt(uintptr(a.file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := &arenaView{fd: fd}
	defer v.close()
	const goroutines, pages = 4, 200
	var grown atomic.Int64 // pages; its store pairs with the loads below
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for n := int64(0); n < pages; {
				runtime.Gosched()
				if n = grown.Load(); n == 0 {
					continue
				}
				got, err := v.at(uint64(n-1)*4096, 8)
				if err != nil || got[0] != byte(n) {
					t.Errorf("page %d: %v, %v", n, got, err)
					return
				}
			}
		})
	}
	for n := range pages {
		b, err := a.alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		b[0] = byte(n + 1)
		grown.Store(int64(n) + 1)
		runtime.Gosched()
	}
	wg.Wait()
}
