package shm

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Ranks that dial each other at once, at any moment, have one connection each way,
// and it carries what either has sent.
func TestRanksThatDialAtOnceHaveOneConnection(t *testing.T) {
	round := func() {
		const ranks = 3
		var ds []fabric.Domain
		for r := range ranks {
			d, err := Provider{}.Open(fabric.Config{Rank: fabric.Peer(r), Size: ranks, Job: t.Name(), Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d)
		}
		var all, there sync.WaitGroup
		there.Add(ranks)
		for r, d := range ds {
			all.Go(func() {
				n := newNode(t, d)
				var to [ranks]fabric.Endpoint
				for p := range ranks {
					if p != r {
						to[p], _ = d.Connect(fabric.Peer(p), ds[p].Addr())
					}
				}
				var sent [ranks]bool
				sent[r] = true
				waitFor(t, "messages of all", func() bool {
					for p, ep := range to {
						if !sent[p] {
							err := ep.Send(1, 0, nil, fmt.Appendf(nil, "from %d", r))
							if err != nil && err != fabric.ErrAgain {
								t.Errorf("rank %d to %d: %v", r, p, err)
							}
							sent[p] = err == nil
						}
					}
					n.d.Poll(n, 64)
					return sent == [ranks]bool{true, true, true} && len(n.got) >= ranks-1 || len(n.down) > 0
				})
				there.Done()
				there.Wait()
				n.d.Poll(n, 64)
				if len(n.got) != ranks-1 || len(n.down) > 0 || len(n.d.rx) != ranks-1 {
					t.Errorf("rank %d got %q over %d rings, down: %v", r, n.got, len(n.d.rx), n.down)
				}
			})
		}
		all.Wait()
		for _, d := range ds {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for range 10 {
		leavesNoFiles(t, round)
	}
}

// The lower rank holds the dial of one that it is dialling.
func TestTheLowerRankHoldsADialWhileItsOwnIsUnderWay(t *testing.T) {
	for _, c := range []struct {
		name string
		mine func(a *actor, conn *net.UnixConn) // what comes of its dial
		held string                             // how it answers the other then
		says string                             // of the peer, unless the connection stands
	}{
		{"and then is connected", (*actor).answer, "already", ""},
		{"and refuses it if that fails", func(a *actor, conn *net.UnixConn) { conn.Close() }, "hung up", "hung up"},
		{"and refuses it if that is refused", func(a *actor, conn *net.UnixConn) {
			h := a.hello()
			h.refusal = "for a test"
			utter(a.t, conn, &h)
		}, "for a test", "the peer refuses: for a test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newActor(t, 1)
			ep := a.connect()
			conn := a.greeted()
			held := a.dial()
			a.catchUp()
			c.mine(a, conn)
			a.mustHear(held, c.held)
			if c.says == "" {
				a.waitForRoom(ep)
			} else {
				a.waitForPeerDown(c.says)
			}
		})
	}
}

func TestADialThatIsHeldMayHangUp(t *testing.T) {
	a := newActor(t, 1)
	ep := a.connect()
	conn := a.greeted()
	a.dial().Close()
	a.answer(conn)
	a.waitForRoom(ep)
}

// The higher rank answers at once, and gives its own dial up when the other's has
// settled.
func TestTheHigherRankWelcomesADialWhileItsOwnIsUnderWay(t *testing.T) {
	a := newActor(t, 0)
	ep := a.connect()
	mine := a.greeted()
	conn := a.dial()
	a.mustHear(conn, "welcome")
	a.settle(conn)
	a.waitForRoom(ep)
	if _, _, err := read(mine); err == nil {
		t.Error("it has not given its own dial up")
	}
	if len(a.d.rx) != 1 {
		t.Errorf("%d rings", len(a.d.rx))
	}
}

func TestTheHigherRankIsToldThatItIsConnected(t *testing.T) {
	a := newActor(t, 0)
	ep := a.connect()
	mine := a.greeted()
	conn := a.dial()
	a.mustHear(conn, "welcome")
	h := a.hello()
	h.already = true
	utter(t, mine, &h)
	if _, _, err := read(mine); err == nil {
		t.Error("it goes on with its own dial")
	}
	if err := ep.Send(1, 0, nil, nil); err != fabric.ErrAgain {
		t.Errorf("Send before the peer has settled: %v", err)
	}
	a.settle(conn)
	a.waitForRoom(ep)
}

// A dialler that dies after the answer leaves no connection: the rank goes on with
// its own dial.
func TestTheHigherRankGoesOnWhenTheOtherDialIsDropped(t *testing.T) {
	a := newActor(t, 0)
	ep := a.connect()
	mine := a.greeted()
	conn := a.dial()
	a.mustHear(conn, "welcome")
	conn.Close()
	a.answer(mine)
	a.waitForRoom(ep)
}

func TestARankDialsWhenThePeersDialIsDropped(t *testing.T) {
	for _, rank := range []int{0, 1} {
		a := newActor(t, rank)
		conn := a.dial()
		a.mustHear(conn, "welcome")
		ep := a.connect()
		for range 100 {
			a.d.Poll(a.n, 64)
			if err := ep.Send(1, 0, nil, nil); err != fabric.ErrAgain {
				t.Fatalf("Send before the peer has settled: %v", err)
			}
		}
		conn.Close()
		a.answer(a.greeted())
		a.waitForRoom(ep)
		if len(a.d.rx) != 1 {
			t.Errorf("%d rings", len(a.d.rx))
		}
	}
}

// A dialler that ends at any step leaves neither a connection nor anything open,
// and a rank that may still connect.
func TestADiallerThatEndsLeavesNothingBehind(t *testing.T) {
	for name, play := range map[string]func(a *actor){
		"before its greeting": func(a *actor) { call(a.t, a.d).conn.Close() },
		"before the answer":   func(a *actor) { a.dial().Close() },
		"after the answer": func(a *actor) {
			conn := a.dial()
			a.mustHear(conn, "welcome")
			conn.Close()
		},
		"with garbage after the answer": func(a *actor) {
			conn := a.dial()
			a.mustHear(conn, "welcome")
			conn.Write([]byte("garbage"))
			conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newActor(t, 1)
			play(a)
			play(a)
			waitFor(t, "the rank to forget it", func() bool {
				a.d.Poll(a.n, 64)
				if e := a.d.peers[1]; e != nil && e.up {
					t.Fatal("there is a connection to it")
				}
				return len(a.d.rx) == 0
			})
			ep := a.connect()
			a.answer(a.greeted())
			a.waitForRoom(ep)
			if err := a.n.down[1]; err != nil {
				t.Errorf("PeerDown(%v)", err)
			}
		})
	}
}

// Each prefix of a greeting, and each greeting with a byte changed, leaves the rank
// as it was.
func TestGarbageAtEachByteOfAGreetingHarmsNobody(t *testing.T) {
	ds := openJob(t, 2)
	d := ds[0].(*Domain)
	h := d.greeting()
	h.rank = 1
	whole := h.encode()
	for i := range whole {
		for _, b := range [][]byte{whole[:i], append(append([]byte{}, whole[:i]...), append([]byte{^whole[i]}, whole[i+1:]...)...)} {
			s := call(t, d)
			s.conn.Write(b)
			s.conn.CloseWrite()
			if h, err := s.answer(); err == nil && h.refusal == "" {
				t.Fatalf("%x was welcomed", b)
			}
			s.conn.Close()
		}
	}
	connected(t, ds[0], ds[1]).exchange("alive")
}

// An answerer that ends, or answers with what is none, ends the peer.
func TestAnAnswererThatEndsIsDown(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(a *actor)
		says string
	}{
		{"before it takes the connection", func(a *actor) { a.accept().Close() }, ""},
		{"before it answers", func(a *actor) { a.greeted().Close() }, "hung up"},
		{"with garbage", func(a *actor) { a.greeted().Write(make([]byte, 80)) }, "not a Weft greeting"},
		{"with half a greeting", func(a *actor) {
			h := a.hello()
			b := h.encode()
			a.greeted().Write(b[:len(b)/2])
		}, "short"},
		{"without descriptors", func(a *actor) {
			h := a.hello()
			utter(a.t, a.greeted(), &h)
		}, "descriptors"},
		{"with too many", func(a *actor) {
			h := a.hello()
			control, bell, arena := a.files()
			utter(a.t, a.greeted(), &h, control, bell, arena, arena)
		}, "descriptors"},
		{"with memory that can shrink", func(a *actor) {
			h := a.hello()
			_, bell, arena := a.files()
			utter(a.t, a.greeted(), &h, file(a.t, controlSize, 0), bell, arena)
		}, "sealed"},
		{"with a connection that is not", func(a *actor) {
			h := a.hello()
			h.already = true
			utter(a.t, a.greeted(), &h)
		}, "which it is not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newActor(t, 1)
			ep := a.connect()
			c.play(a)
			a.waitForPeerDown(c.says)
			if err := ep.Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("Send: %v", err)
			}
		})
	}
}

// A rank that has dialled and fails after the answer is no peer of the answerer's.
func TestADiallerThatCanNotUseTheAnswerHasNotSettled(t *testing.T) {
	a := newActor(t, 1)
	a.connect()
	conn := a.accept()
	_, fds, err := read(conn)
	if err != nil || len(fds) != maxFDs {
		t.Fatalf("%d descriptors, %v", len(fds), err)
	}
	defer closeAll(fds)
	seg, err := mapSegment(fds[fdRings], a.d.ringPair())
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(seg)
	h := a.hello()
	_, bell, arena := a.files()
	utter(t, conn, &h, file(t, controlSize, 0), bell, arena)
	if _, _, err := read(conn); err == nil {
		t.Error("it has not hung up")
	}
	if atomic.LoadUint32(word(seg, offSettled)) != 0 {
		t.Error("it has settled")
	}
	a.waitForPeerDown("sealed")
}

// The dialler may write to the answerer's memory from when it has settled, which
// the answerer hears later: it waits for that all the same.
func TestARankThatHasAnsweredWaitsForAWriteOfThePeer(t *testing.T) {
	a := newActor(t, 1)
	conn := a.dial()
	a.mustHear(conn, "welcome")
	half := a.seg[:len(a.seg)/2]
	atomic.StoreUint32(word(half, offSettled), 1)
	atomic.StoreUint32(word(half, offInFlight), 1)
	if !a.d.End(1, fabric.ErrPeerDown) {
		t.Error("End does not wait for the write")
	}
	if got := atomic.LoadUint32(word(half, offEnds+4)); got != leftEnded {
		t.Errorf("the peer is not told of the end: %d", got)
	}
	atomic.StoreUint32(word(half, offInFlight), 0)
	conn.Close()
	a.waitForPeerDown("")
}

// A rank that closes after its answer tells the dialler.
func TestARankThatClosesAfterItsAnswerTellsTheDialler(t *testing.T) {
	a := newActor(t, 1)
	conn := a.dial()
	a.mustHear(conn, "welcome")
	a.d.Close()
	if got := atomic.LoadUint32(word(a.seg[:len(a.seg)/2], offEnds+4)); got != leftClosed {
		t.Errorf("the peer is not told: %d", got)
	}
}

// Close ends whatever greetings are under way, at every step.
func TestCloseEndsGreetingsUnderWay(t *testing.T) {
	for name, play := range map[string]func(a *actor){
		"a dial that is not taken":       func(a *actor) { a.connect() },
		"a dial that is not answered":    func(a *actor) { a.connect(); a.greeted() },
		"a dial that is held":            func(a *actor) { a.connect(); a.greeted(); a.dial() },
		"an answer that is not settled":  func(a *actor) { a.mustHear(a.dial(), "welcome") },
		"a stranger who has not greeted": func(a *actor) { call(a.t, a.d) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newActor(t, 1)
			play(a)
			if err := a.d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
