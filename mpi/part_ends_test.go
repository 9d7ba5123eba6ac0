package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A round of a partitioned operation is neither given up nor cancelled, whatever has come
// of it, and goes on as if nobody had asked.
func TestARoundOfPartitionsIsNotGivenUp(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			const n = 1000
			b := make([]byte, n)
			var p *mpi.Partitioned
			if c.Rank() == 0 {
				p = get(mpi.PsendInit(c, b, 4, 1, 7))
			} else {
				p = get(mpi.PrecvInit(c, b, 4, 0, 7))
			}
			refused := func(when string) {
				r := p.Request
				wantWords(t, when+": RequestFree", mpi.RequestFree(&r), mpi.ErrRequest, "partitioned")
				wantWords(t, when+": Cancel", mpi.Cancel(&r), mpi.ErrRequest, "partitioned")
				want(t, when+": Partitioned.Free", p.Free(), mpi.ErrRequest)
				want(t, when+": Request.Cancel", p.Request.Cancel(), mpi.ErrRequest)
				if r.Null() || r != p.Request {
					t.Errorf("%s: the handle has changed", when)
				}
			}
			for round := range 3 {
				ok(p.Start())
				refused("after Start")
				if c.Rank() == 0 {
					fill(b, round)
					ok(p.ReadyRange(0, 2))
					refused("with one partition open")
					ok(p.Ready(3))
				}
				ended := false
				for !ended {
					var err error
					ended, _, err = mpi.RequestStatus(p.Request)
					ok(err)
				}
				refused("at its end, of which nobody knows")
				if get(p.Wait()); c.Rank() == 1 && differs(b, round) >= 0 {
					t.Errorf("round %d: other bytes", round)
				}
				want(t, "Cancel at rest", p.Request.Cancel(), mpi.ErrRequest)
			}
			ok(p.Free())
			for _, null := range []*mpi.Partitioned{p, nil, {}} {
				if there := get(null.Arrived(0)); !there {
					t.Error("a partition of the null request has not arrived")
				}
			}
			if there := get(mpi.Parrived(mpi.Request{}, 9)); !there {
				t.Error("a partition of the null request has not arrived")
			}
		})
	})
}

// partEnd is how one side of a partitioned operation ends, and what the other one is told:
// its error names the rank, by its number in the communicator.
type partEnd struct {
	name  string
	class mpi.Class
	say   string // what it says behind the rank
	ends  func(c *mpi.Comm, p *mpi.Partitioned, end context.CancelFunc)
}

var partEnds = []partEnd{
	{"Free", mpi.ErrOther, "has freed its partitioned", func(_ *mpi.Comm, p *mpi.Partitioned, _ context.CancelFunc) { ok(p.Free()) }},
	{"the context at rest, and Free", mpi.ErrOther, "has freed its partitioned", func(_ *mpi.Comm, p *mpi.Partitioned, end context.CancelFunc) {
		end()
		ok(p.Free())
	}},
	{"the context in a round", mpi.ErrOther, "has given up its partitioned", func(_ *mpi.Comm, p *mpi.Partitioned, end context.CancelFunc) {
		ok(p.Start())
		end()
		_, err := p.Wait()
		if _, again := p.Wait(); err == nil || again != nil {
			stop(fmt.Errorf("the round ends with %w, and then %w", err, again))
		}
	}},
	{"a revocation", mpi.ErrRevoked, "revoked", func(c *mpi.Comm, p *mpi.Partitioned, _ context.CancelFunc) {
		ok(p.Start())
		ok(c.Revoke())
		if _, err := p.Wait(); mpi.ErrorClass(err) != mpi.ErrRevoked {
			stop(fmt.Errorf("the round ends with %w", err))
		}
	}},
}

func TestThePeerIsToldHowAPartitionedOperationHasEnded(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, e := range partEnds {
			for _, matched := range []bool{true, false} {
				for sender := range 2 { // which of the two ends it is the other one
					act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
						c = get(c.Split(0, -c.Rank())) // numbered the other way round
						defer c.Barrier()
						if c.Rank() == 2 {
							return
						}
						ctx, end := context.WithCancel(t.Context())
						defer end()
						other := 1 - c.Rank()
						ends := c.Rank() == 1
						begin := func(with *mpi.Comm) (*mpi.Partitioned, error) {
							if c.Rank() == sender {
								return mpi.PsendInit(with, make([]byte, 64), 4, other, 3)
							}
							return mpi.PrecvInit(with, make([]byte, 64), 4, other, 3)
						}
						pair := get(c.CreateGroup(get(c.Group().Incl(0, 1)), 1))
						meet := func(when bool) {
							if when {
								ok(pair.Barrier())
							}
						}
						if ends {
							p := get(begin(c.WithContext(ctx)))
							meet(matched)
							meet(matched)
							e.ends(c, p, end)
							meet(!matched)
							return
						}
						meet(!matched)
						p, err := begin(c)
						if !matched && mpi.ErrorClass(err) == mpi.ErrRevoked {
							return // it has heard of that
						}
						ok(err)
						meet(matched)
						ok(p.Start())
						meet(matched)
						_, err = p.Wait()
						want(t, e.name, err, e.class)
						if text := fmt.Sprint(err); !strings.Contains(text, e.say) || e.class != mpi.ErrRevoked && !strings.Contains(text, fmt.Sprintf("rank %d ", other)) {
							t.Errorf("%s, matched %t, of the sender %t: rank %d is told %v", e.name, matched, sender == 1, c.Rank(), err)
						}
						ok(p.Free())
					})
				}
			}
		}
	})
}

// On an intercommunicator the error says that the rank is one of the remote group.
func TestThePeerOfTheRemoteGroupIsNamedAsSuch(t *testing.T) {
	act(t, "mem", 2, func(_ *mpi.World, c *mpi.Comm) {
		x := get(mpi.IntercommCreate(get(c.Split(c.Rank(), 0)), 0, c, 1-c.Rank(), 0))
		begin := mpi.PsendInit[byte]
		if c.Rank() == 1 {
			begin = mpi.PrecvInit[byte]
		}
		p := get(begin(x, make([]byte, 8), 2, 0, 3))
		if ok(c.Barrier()); c.Rank() == 0 {
			ok(p.Start())
			_, err := p.Wait()
			var gone *mpi.GoneError
			wantWords(t, "the send", err, mpi.ErrOther, "rank 0 of the remote group has freed its partitioned receive")
			if !errors.As(err, &gone) || gone.Rank != 0 || !gone.Remote || gone.Sends || gone.Revoked() {
				t.Errorf("%+v", gone)
			}
		}
		ok(p.Free())
	})
}
