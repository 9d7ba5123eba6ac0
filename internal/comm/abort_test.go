package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// An abort in a communicator that has been freed is not kept: its id may be another
// one's some day.
func TestAnAbortInAFreedCommunicatorIsForgotten(t *testing.T) {
	ranks := engines(t, 2)
	noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
		d, err := in.World.Dup(ctx)
		if err != nil {
			return err
		}
		d.Free()
		in.Loop.Exclusive(func() {
			h := wire.MakeAbort(make([]byte, wire.AbortSize), 16, 3, 1)
			aborts{in: in}.Deliver(1, wire.Abort, uint64(d.Library()), h, []byte("no"))
		})
		if n := len(in.early); n != 0 {
			return fmt.Errorf("%d aborts are kept", n)
		}
		return nil
	}))
}

// A call that fails fails at all ranks, though its rank has begun a later one
// meanwhile.
func TestAFailureIsThatOfItsCall(t *testing.T) {
	const size = 3
	failure := errors.New("there is no result")
	for rank, err := range each(engines(t, size), func(ctx context.Context, in *Instance) error {
		c := in.World
		o := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, Combine: digits}
		if c.Rank == 1 {
			o.User, o.Combine = true, func(a, b, to []byte) {
				later := Operands{In: words(1, 1), Out: make([]byte, 8*size), Elem: 8}
				c.Icollective(ctx, coll.Allgather, all(c.Rank, size, 1), &later)
				panic(failure)
			}
		}
		return c.Collective(ctx, coll.Allreduce, chain(c.Rank, size, 1), &o)
	}) {
		var told *cause.CallError
		if rank == 1 && !errors.Is(err, failure) || rank != 1 && !errors.As(err, &told) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Ranks that fail in different calls tell of it in any order: the calls from the
// earliest on end.
func TestTheEarliestFailureCounts(t *testing.T) {
	in := engines(t, 2)[0]
	c := in.World
	var hs []progress.Handle
	for range 3 {
		o := Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8}
		hs = append(hs, c.Icollective(t.Context(), coll.Allgather, all(0, 2, 1), &o))
	}
	ended := func() (n int) {
		for _, h := range hs {
			if ended, _, _ := progress.Peek(h); ended {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		seq  uint32
		want int
	}{{3, 1}, {2, 2}, {3, 2}, {1, 3}} {
		in.Loop.Exclusive(func() {
			c.breakFrom(step.seq, &cause.CallError{Rank: 1, World: 1, Text: fmt.Sprint(step.seq)})
			if c.told.Text != fmt.Sprint(c.brokenFrom) {
				t.Errorf("a failure in call %d keeps %v for call %d", step.seq, c.told, c.brokenFrom)
			}
		})
		if n := ended(); n != step.want {
			t.Errorf("%d calls have ended behind a failure in call %d, want %d", n, step.seq, step.want)
		}
	}
}

// A rank that hears of a failure before it makes an earlier call still makes that one:
// the others are in it.
func TestACallBeforeTheOneThatHasFailedIsMade(t *testing.T) {
	const size = 3
	for way, call := range ways {
		if way == "persistent" {
			continue // a failure ends all of them
		}
		t.Run(way, func(t *testing.T) {
			noErrors(t, eachOrNone(engines(t, size), func(ctx context.Context, in *Instance) error {
				c := in.World
				ops := func() Operands {
					return Operands{In: words(1, uint64(c.Rank+1)), Out: make([]byte, 8), Elem: 8, Combine: digits}
				}
				if c.Rank == 0 {
					for c.Broken() == nil {
						in.Loop.Glance(func() bool { return false })
						if ctx.Err() != nil {
							return ctx.Err()
						}
					}
					first := ops()
					if err := call(ctx, c, coll.Allreduce, chain(c.Rank, size, 1), first); err != nil || first.Out[0] != 123 {
						return fmt.Errorf("the call before it: %d, %w", first.Out[0], err)
					}
				} else {
					first, second := ops(), ops()
					made := make(chan error, 1)
					go func() { made <- call(ctx, c, coll.Allreduce, chain(c.Rank, size, 1), first) }()
					for c.seq.Load() == 0 {
						runtime.Gosched()
					}
					until, cancel := context.WithCancel(ctx)
					if c.Rank == 2 {
						cancel()
					}
					later := c.Icollective(until, coll.Allreduce, chain(c.Rank, size, 1), &second)
					_, broken := progress.WaitResult(&later)
					cancel()
					if err := <-made; err != nil || broken == nil || first.Out[0] != 123 {
						return fmt.Errorf("rank %d: %d, %w; behind it %v", c.Rank, first.Out[0], err, broken)
					}
				}
				last := ops()
				if err := call(ctx, c, coll.Allreduce, chain(c.Rank, size, 1), last); err == nil {
					return fmt.Errorf("rank %d: a call behind it has gone well", c.Rank)
				}
				return nil
			}))
		})
	}
}

// What a rank that has left in order has told one rank all get to know: what it told the
// others may not have left with it.
func TestAnAbortOfARankThatHasLeftIsPassedOn(t *testing.T) {
	for _, freed := range []bool{false, true} {
		ranks := engines(t, 3)
		noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
			d, err := in.World.Dup(ctx)
			if err != nil {
				return err
			}
			switch in.World.Rank {
			case 1:
				h := wire.MakeAbort(make([]byte, wire.AbortSize), 16, 0, 0)
				for range 2 {
					in.Loop.Exclusive(func() { aborts{in: in}.Deliver(0, wire.Abort, uint64(d.Library()), h, []byte("no")) })
				}
				if n := len(in.heard[0]); n != 1 {
					return fmt.Errorf("%d aborts of one communicator are kept", n)
				}
				if freed {
					d.Free()
				}
				in.Loop.Exclusive(func() { aborts{in: in}.PeerDown(0, fabric.ErrPeerLeft) })
				sent := in.P2P.Isend(ctx, pt2pt.Standard, 2, in.World.ID, 1, nil)
				_, err = progress.WaitResult(&sent)
				return err
			case 2:
				h := in.P2P.Irecv(ctx, 1, in.World.ID, 1, nil) // which comes behind it
				if _, err := progress.WaitResult(&h); err != nil {
					return err
				}
				var told *cause.CallError
				if !errors.As(d.Broken(), &told) || told.Rank != 0 || told.World != 0 || told.Text != "no" {
					return fmt.Errorf("freed %t: %v, want what rank 0 has told", freed, d.Broken())
				}
			}
			return nil
		}))
	}
}

// A rank whose message is refused, as the communicator has been freed at one that had heard of
// a failure, is told of that one before, with the rank and the words of the first to tell it.
// Nobody else is told at the Free.
func TestARankThatIsRefusedIsToldOfTheFailure(t *testing.T) {
	for _, early := range []bool{false, true} { // the message has come before the Free
		noErrors(t, each(engines(t, 3), func(ctx context.Context, in *Instance) error {
			d, err := in.World.Dup(ctx)
			if err != nil {
				return err
			}
			send := func(to int, cid uint32, mode pt2pt.Mode) error {
				h := in.P2P.Isend(ctx, mode, to, cid, 1, nil)
				_, err := progress.WaitResult(&h)
				return err
			}
			recv := func(from int) error {
				h := in.P2P.Irecv(ctx, from, in.World.ID, 1, nil)
				_, err := progress.WaitResult(&h)
				return err
			}
			switch in.World.Rank {
			case 1:
				if early {
					if err := recv(2); err != nil { // behind the message
						return err
					}
				}
				h := wire.MakeAbort(make([]byte, wire.AbortSize), 16, 0, 0)
				in.Loop.Exclusive(func() { aborts{in: in}.Deliver(0, wire.Abort, uint64(d.Library()), h, []byte("no")) })
				d.Free()
				return errors.Join(send(0, in.World.ID, pt2pt.Standard), send(2, in.World.ID, pt2pt.Standard))
			case 2:
				var refused progress.Handle
				if early {
					refused = in.P2P.Isend(ctx, pt2pt.Synchronous, 1, d.Library(), 1, nil)
					if err := send(1, in.World.ID, pt2pt.Standard); err != nil {
						return err
					}
				}
				if err := recv(1); err != nil {
					return err
				}
				if !early {
					if d.Broken() != nil {
						return fmt.Errorf("the Free has told of %v", d.Broken())
					}
					refused = in.P2P.Isend(ctx, pt2pt.Synchronous, 1, d.Library(), 1, nil)
				}
				_, err := progress.WaitResult(&refused) // a call has the cause then
				var told *cause.CallError
				if !errors.As(d.Broken(), &told) || told.World != 0 || told.Rank != 0 || told.Text != "no" || err == nil {
					return fmt.Errorf("early %t: %v, and the send ends with %v", early, d.Broken(), err)
				}
			case 0:
				if err := recv(1); err != nil || d.Broken() != nil {
					return fmt.Errorf("%w; the Free has told rank 0 of %v", err, d.Broken())
				}
			}
			return nil
		}))
	}
}

// So do all ranks of a meeting that a rank has broken off which has left, whether the one
// that passes it on has begun the meeting before or begins it afterwards.
func TestAMeetingThatWasBrokenOffByARankThatHasLeftIsPassedOn(t *testing.T) {
	for _, begun := range []bool{true, false} {
		ranks := engines(t, 3)
		m := Meeting{Key: "the same"}
		key := keyOf("meeting", m.Key, group.All(3), nil)
		off := wire.MakeLetterReason(16, 0, "no")
		noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
			l := in.letters
			broken := func() {
				in.Loop.Exclusive(func() {
					l.Deliver(0, wire.Letter, wire.LetterOff, wire.LetterHeader(key[:]), off)
					l.PeerDown(0, fabric.ErrPeerLeft)
				})
			}
			var spent *SpentError
			switch in.World.Rank {
			case 1:
				ended := make(chan error, 1)
				meet := func() { _, err := in.Meet(ctx, m); ended <- err }
				if !begun {
					broken()
				}
				go meet()
				for waits := false; begun && !waits && ctx.Err() == nil; {
					in.Loop.Exclusive(func() { waits = l.boxes[key] != nil && l.boxes[key].meeting != nil })
				}
				if begun {
					broken()
				}
				if err := <-ended; err == nil {
					return errors.New("the meeting has succeeded")
				}
				sent := in.P2P.Isend(ctx, pt2pt.Standard, 2, in.World.ID, 1, nil)
				_, err := progress.WaitResult(&sent)
				return err
			case 2:
				h := in.P2P.Irecv(ctx, 1, in.World.ID, 1, nil) // which comes behind it
				if _, err := progress.WaitResult(&h); err != nil {
					return err
				}
				told := false
				in.Loop.Exclusive(func() { told = l.spent.why[key] != nil })
				if !told {
					return fmt.Errorf("begun %t: rank 1 has passed nothing on", begun)
				}
				if _, err := in.Meet(ctx, m); !errors.As(err, &spent) {
					return fmt.Errorf("begun %t: %v, want that the key is spent", begun, err)
				}
			}
			return nil
		}))
	}
}

// unreaching is a domain that can't connect to a rank, which others can.
type unreaching struct {
	fabric.Domain
	peer fabric.Peer
}

func (d unreaching) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	if p == d.peer {
		return nil, errors.New("refused")
	}
	return d.Domain.Connect(p, addr)
}

// A rank that can't connect to another tells those who wait for it: they may never need
// the other, and no launcher says that it is dead.
func TestARankThatCannotConnectEndsTheCallAtAllRanks(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, in *Instance) error{
		"a barrier": func(ctx context.Context, in *Instance) error { return in.World.Barrier(ctx, false) },
		"a collective call": func(ctx context.Context, in *Instance) error {
			return in.World.Collective(ctx, coll.Allreduce, chain(in.World.Rank, 3, 1), &Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, Combine: digits})
		},
		"a creation": func(ctx context.Context, in *Instance) error {
			_, err := in.Meet(ctx, Meeting{Key: "all", Own: group.All(3)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := over(t, 3, func(int) func() uint32 { return nil }, func(rank int, d fabric.Domain) fabric.Domain {
				if rank == 0 {
					d = unreaching{d, 1}
				}
				return d
			})
			errs := each(all, func(ctx context.Context, in *Instance) error {
				ctx, cancel := context.WithTimeout(ctx, patience/10)
				defer cancel()
				if in.World.Rank == 1 {
					return nil // is there, and calls nothing
				}
				err := call(ctx, in)
				if ctx.Err() != nil {
					t.Errorf("rank %d has waited for ever", in.World.Rank)
				}
				return err
			})
			if !errors.Is(errs[0], fabric.ErrUnreachable) || errs[2] == nil || !strings.Contains(errs[2].Error(), "rank 0 of the job has failed") && !strings.Contains(errs[2].Error(), "refused") {
				t.Errorf("the errors are %v and %v", errs[0], errs[2])
			}
		})
	}
}
