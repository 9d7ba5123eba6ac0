package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// flush begins a Flush and names it.
func (v *moving) flush() fabric.Op {
	v.t.Helper()
	v.accepted(v.op, v.ep.Flush)
	v.op++
	return v.op - 1
}

// quietly begins a NoOp Put of n bytes at off.
func (v *moving) quietly(off, n int) {
	v.t.Helper()
	seg, m := v.seg, v.remote
	seg.Bytes = seg.Bytes[off : off+n]
	m.Addr, m.Len = m.Addr+uint64(off), uint64(n)
	v.accepted(fabric.NoOp, func(op fabric.Op) error { return v.ep.Put(seg, m, op) })
}

func (v *moving) accepted(op fabric.Op, call func(fabric.Op) error) {
	v.t.Helper()
	for {
		switch err := call(op); err {
		case nil:
			return
		case fabric.ErrAgain:
			v.poll()
		default:
			v.t.Fatal(err)
		}
	}
}

// holds says that a device has yet to bring to memory what was written. The memory
// itself can't be asked: a connection that is being made settles it at any time.
func (w *fakeNet) holds() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.qps {
		if len(q.hca.written) > 0 {
			return true
		}
	}
	return false
}

// What devices have acknowledged may be on its way to the memory still. Behind a
// Flush it is there, for whoever looks without a message over these devices.
func TestWhatWasFlushedIsInMemory(t *testing.T) {
	emulated(t)
	for _, c := range []struct{ ports, queues int }{{1, 1}, {1, 3}, {2, 1}, {2, 2}, {3, 2}} {
		for _, n := range []int{64, 3000, 1 << 17} {
			for _, how := range []string{"complete", "under way", "NoOps"} {
				t.Run(fmt.Sprintf("%d ports of %d/%d bytes/%s", c.ports, c.queues, n, how), func(t *testing.T) {
					w := newFakeNet()
					w.posted = true
					ds, eps := connected(t, railJob(w, c.ports, c.queues))
					v := newMoving(t, ds, eps[0], 1<<17)
					held := 0 // rounds; the set-up may still settle what the first has written
					for round := range 5 {
						copy(v.mine, noise[round:])
						clear(v.its)
						switch how {
						case "complete":
							v.start(true, 0, n)
							v.wait()
							if w.holds() {
								held++
							}
						case "under way":
							v.start(true, 0, n)
						case "NoOps":
							v.quietly(0, n/2)
							v.quietly(n/2, n-n/2)
						}
						op := v.flush()
						eventually(t, "the Flush ends", func() bool {
							ds[0].Poll(v.m, 64) // and the peer makes no call
							_, over := v.m.ends[op]
							return over
						})
						if err := v.m.ends[op]; err != nil || !bytes.Equal(v.its[:n], v.mine[:n]) {
							t.Fatalf("round %d: the Flush ends with %v, and the bytes are there: %t", round, err, bytes.Equal(v.its[:n], v.mine[:n]))
						}
						v.wait()
					}
					if how == "complete" && len(ds[0].ports) == 0 && held == 0 {
						t.Error("the device has held nothing back: nothing is proved")
					}
					v.rested()
				})
			}
		}
	}
}

// Stripes that wait for the peer's keys are not posted yet when a Flush comes.
func TestAFlushWaitsForStripesThatWait(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, railJob(w, 2, 1))
	v := newMoving(t, ds, eps[0], 1<<16)
	copy(v.mine, noise)
	w.mu.Lock()
	w.stuck = ds[0].peers[1].rails[0].qp.Num
	w.mu.Unlock()
	v.start(true, 0, len(v.mine))
	v.flush()
	for range 100 {
		v.poll()
	}
	if len(v.m.ends) > 0 {
		t.Errorf("%d operations have ended while a stripe is held up", len(v.m.ends))
	}
	w.mu.Lock()
	w.stuck = 0
	w.mu.Unlock()
	v.wait()
	if v.m.ends[0] != nil || v.m.ends[1] != nil || !bytes.Equal(v.mine, v.its) {
		t.Errorf("they end with %v, the bytes are right: %t", v.m.ends, bytes.Equal(v.mine, v.its))
	}
	v.rested()
}

// NoOps take no completion each: that of the Flush stands for them.
func TestNoOpsTakeFewCompletions(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, fakeJob(w))
	v := newMoving(t, ds, eps[0], 64)
	const puts = 160
	signaled := 0
	for range puts {
		v.quietly(0, 64)
		if ds[0].peers[1].unsignaled == 0 {
			signaled++
		}
	}
	v.flush()
	v.wait()
	if signaled > puts/signalEvery+1 {
		t.Errorf("%d of %d NoOps are signaled", signaled, puts)
	}
	v.rested()
}

// The refusal of a NoOp ends the Flush behind it, once it is known whether the
// peer is there, and no other.
func TestTheRefusalOfANoOpIsToldByItsFlush(t *testing.T) {
	emulated(t)
	for _, dead := range []bool{false, true} {
		for queues, port := range []string{"the first queue pair", "a further one"} {
			for _, late := range []bool{false, true} { // the Flush is begun behind the refusal
				if late && queues == 0 {
					continue // the peer is ended by then
				}
				w := newFakeNet()
				ds, eps := connected(t, railJob(w, 1+queues, 1))
				v := newMoving(t, ds, eps[0], 1<<16)
				e := ds[0].peers[1]
				if queues > 0 {
					w.at = "fake1"
				}
				its := ds[1]
				its.mu.Lock() // so that it does not answer
				ds[0].inPoll = true
				before := v.flush()
				ds[0].inPoll = false
				ds[0].flush()
				w.fault = ibv.RemAccessErr
				v.quietly(0, len(v.mine))
				behind := fabric.Op(0)
				if !late {
					behind = v.flush()
				}
				eventually(t, "the device refuses", func() bool {
					ds[0].Poll(v.m, 64)
					return len(e.refused) > 0
				})
				if late {
					behind = v.flush()
				}
				for range 100 {
					ds[0].Poll(v.m, 64)
				}
				if _, over := v.m.ends[behind]; over {
					t.Errorf("dead %t, %s: the Flush ends before it is known whether the peer is there", dead, port)
				}
				want := fabric.ErrBadRemote
				if dead {
					want = fabric.ErrPeerDown
					its.links[0].conn.Close()
					eventually(t, "the Flush ends", func() bool {
						ds[0].Poll(v.m, 64)
						return len(v.m.ends) == int(v.op)
					})
				}
				its.mu.Unlock()
				v.wait()
				if err := v.m.ends[behind]; !errors.Is(err, want) {
					t.Errorf("dead %t, late %t, %s: the Flush ends with %v, want %v", dead, late, port, err, want)
				}
				if err := v.m.ends[before]; err != nil {
					t.Errorf("dead %t, late %t, %s: the Flush before ends with %v", dead, late, port, err)
				}
				if queues > 0 && !dead {
					next := v.flush()
					v.wait()
					if err := v.m.ends[next]; err != nil {
						t.Errorf("late %t, %s: the next Flush ends with %v", late, port, err)
					}
				} else {
					v.m.untilDown(t, ds[0])
				}
				v.rested()
			}
		}
	}
}

// A peer that was never connected, and dials later, is ended too.
func TestAPeerIsEndedBeforeItDials(t *testing.T) {
	emulated(t)
	j := fakeJob(newFakeNet())
	j.domains(t, 2)
	m := newMourner()
	if !j.ranks[0].End(1, fabric.ErrPeerDown) {
		t.Fatal("End answers that the peer is down")
	}
	m.untilDown(t, j.ranks[0])
	e, err := j.ranks[1].Connect(0, j.ranks[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	its := newMourner()
	eventually(t, "the peer learns of it", func() bool {
		e.Send(1, 0, nil, nil)
		j.ranks[0].Poll(m, 64)
		j.ranks[1].Poll(its, 64)
		return len(its.down) > 0
	})
	if m.heard > 0 || len(m.down) != 1 {
		t.Errorf("%d messages of a peer that was ended; PeerDown %v", m.heard, m.down)
	}
}
