package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// probe is a call that waits for a message and does not return it.
type probe struct {
	name  string
	probe func(c *mpi.Comm, source, tag int) error
}

var probes = []probe{
	{"Probe", func(c *mpi.Comm, source, tag int) error {
		_, err := mpi.Probe(c, source, tag)
		return err
	}},
	{"Mprobe", func(c *mpi.Comm, source, tag int) error {
		_, _, err := mpi.Mprobe(c, source, tag)
		return err
	}},
}

func TestAProbeEndsWithItsContext(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, p := range probes {
			for _, source := range []int{0, 1, mpi.AnySource} {
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if c.Rank() == 1 {
						get(mpi.Recv(c, make([]byte, 1), 0, 2))
						ok(mpi.Send(c, []byte{1}, 0, 1))
						return
					}
					go cancel()
					err := p.probe(c.WithContext(ctx), source, 1)
					want(t, p.name, err, mpi.ErrCanceled)
					if !errors.Is(err, context.Canceled) {
						t.Errorf("%s: %v does not tell that the context was canceled", p.name, err)
					}
					// Nothing is left behind that would see, or take, the message.
					ok(mpi.Send(c, []byte{1}, 1, 2))
					get(mpi.Probe(c, 1, 1))
					get(mpi.Recv(c, make([]byte, 1), 1, 1))
				}, opts...)
			}
		}
	})
}

// Rank 0 probes, the others die: the last of them if it probes for any.
func TestAProbeEndsWhenItsSourceDies(t *testing.T) {
	recv := probe{"Recv", func(c *mpi.Comm, source, tag int) error {
		_, err := mpi.Recv(c, make([]byte, 1), source, tag)
		return err
	}}
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				for _, p := range append(slices.Clip(probes), recv) {
					for _, source := range []int{1, mpi.AnySource} {
						if testing.Short() && n > 2 && source == 1 {
							continue // as with two
						}
						for _, late := range []bool{false, true} {
							what := fmt.Sprintf("%s of %d among %d ranks, begun after the death=%t", p.name, source, n, late)
							waits := newSignal()
							err := try(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
								return attempt(func() {
									ok(c.Barrier())
									if c.Rank() > 0 {
										waits.take()
										stop(errors.New("this rank dies"))
									}
									for range n - 1 {
										waits.give()
									}
									if late {
										for rank := 1; rank < n; rank++ {
											for alive := true; alive; {
												_, _, err := mpi.Iprobe(c, rank, 9)
												alive = err == nil
											}
										}
									}
									err := p.probe(c, source, 1)
									for n > 2 && source == mpi.AnySource && !late && errors.Is(err, mpi.ErrProcFailedPending) {
										get(c.AckFailed(n)) // the others may live
										err = p.probe(c, source, 1)
									}
									want(t, what, err, mpi.ErrProcFailed)
								})
							}, opts...)
							if err == nil {
								t.Error("Run does not tell of the ranks that have died")
							}
						}
					}
				}
			})
		}
	})
}

// What has come whole of a rank that has died can still be matched and
// received; what has only been announced can't.
func TestMessagesOfADeadRankAreMatchedIfTheyAreHere(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		matched := newSignal()
		err := try(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				if c.Rank() == 1 {
					ok(mpi.Send(c, pattern(100, 1), 0, 1))
					begin(mpi.Isend(c, pattern(long, 2), 0, 2))
					begin(mpi.Isend(c, pattern(long, 3), 0, 3))
					ok(mpi.Send(c, pattern(100, 4), 0, 4))
					matched.take()
					stop(errors.New("this rank dies"))
				}
				_, _, err := mpi.Mprobe(c, 1, 4) // never received: it is in nobody's way
				ok(err)
				short, _, err := mpi.Mprobe(c, 1, 1)
				ok(err)
				announced, _, err := mpi.Mprobe(c, 1, 2)
				ok(err)
				matched.give()
				for err == nil {
					_, _, err = mpi.Iprobe(c, 1, 9)
				}
				want(t, "Iprobe of a dead rank", err, mpi.ErrProcFailed)
				in := make([]byte, long)
				if get(mpi.Mrecv(&short, in)); differs(in[:100], 1) >= 0 {
					t.Error("the message that was here has other bytes")
				}
				_, err = mpi.Mrecv(&announced, in)
				want(t, "Mrecv of a message that was only announced", err, mpi.ErrProcFailed)
				_, _, _, err = mpi.Improbe(c, 1, 3)
				want(t, "Improbe of a message that was only announced", err, mpi.ErrProcFailed)
			})
		})
		if err == nil {
			t.Error("Run does not tell of the rank that has died")
		}
	})
}
