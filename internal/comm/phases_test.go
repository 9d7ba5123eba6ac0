package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// counted is a domain that does something when its rank is about to send its last
// packet but so many.
type counted struct {
	fabric.Domain
	left atomic.Int64
	then func() (lost bool) // whether that packet, and all later ones, are lost
	once sync.Once
	lost atomic.Bool
}

type countedEndpoint struct {
	fabric.Endpoint
	d *counted
}

func (d *counted) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	if err != nil {
		return nil, err
	}
	return countedEndpoint{ep, d}, nil
}

func (e countedEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if e.d.left.Add(-1) == 0 {
		e.d.once.Do(func() { e.d.lost.Store(e.d.then()) })
	}
	if e.d.lost.Load() {
		return nil
	}
	return e.Endpoint.Send(kind, imm, hdr, body)
}

// phases are creations of four ranks: how each prepares, and what it calls.
var phases = map[string]func(ctx context.Context, in *Instance) (call func(ctx context.Context) (*Comm, error), err error){
	"a meeting": func(_ context.Context, in *Instance) (func(ctx context.Context) (*Comm, error), error) {
		return func(ctx context.Context) (*Comm, error) { return in.Meet(ctx, Meeting{Key: "x"}) }, nil
	},
	"a meeting of two groups": func(_ context.Context, in *Instance) (func(ctx context.Context) (*Comm, error), error) {
		own, remote := groupOf(2, 0), groupOf(3, 1)
		if in.World.Rank%2 == 1 {
			own, remote = remote, own
		}
		return func(ctx context.Context) (*Comm, error) {
			return in.Meet(ctx, Meeting{Key: "x", Own: own, Remote: remote})
		}, nil
	},
	"a connection": func(ctx context.Context, in *Instance) (func(ctx context.Context) (*Comm, error), error) {
		h, err := halve(ctx, in, [2][]int{{0, 2}, {1, 3}}, [2]int{0, 1})
		return func(ctx context.Context) (*Comm, error) { return h.c.Connect(ctx, h.x) }, err
	},
}

// A rank dies, or its context ends, at each of its packets: no rank waits for ever, no
// rank keeps anything, and those that have got the communicator find it broken unless
// all have.
func TestARankGoesInAnyPhaseOfACreation(t *testing.T) {
	const size = 4
	for name, prepare := range phases {
		for bad := range size {
			for _, dies := range []bool{false, true} {
				t.Run(fmt.Sprint(name, "/", bad, "/", dies), func(t *testing.T) {
					for at := int64(1); ; at++ {
						var reached atomic.Bool
						var ranks []*Instance
						doms := make([]*counted, size)
						gone, end := context.WithCancel(context.Background())
						ranks = over(t, size, func(int) func() uint32 { return nil }, func(rank int, d fabric.Domain) fabric.Domain {
							doms[rank] = &counted{Domain: d, then: func() bool {
								reached.Store(true)
								end()
								if dies {
									go func() {
										for i, other := range ranks {
											if i != bad {
												other.Fail(bad)
											}
										}
									}()
								}
								return dies
							}}
							return doms[rank]
						})
						var ready sync.WaitGroup
						ready.Add(size)
						made := make([]*Comm, size)
						errs := each(ranks, func(ctx context.Context, in *Instance) error {
							call, err := prepare(ctx, in)
							if err == nil {
								err = in.World.Barrier(ctx, false)
							}
							ready.Done()
							ready.Wait()
							if err != nil {
								return fmt.Errorf("before: %w", err)
							}
							if in.World.Rank == bad {
								doms[bad].left.Store(at)
								ctx = gone
							}
							made[in.World.Rank], err = call(ctx)
							return err
						})
						rest := ranks
						doms[bad].left.Store(0)
						if dies && reached.Load() {
							rest = slices.Delete(slices.Clone(ranks), bad, bad+1)
						}
						whole := !slices.Contains(made, nil)
						after := each(rest, func(ctx context.Context, in *Instance) error {
							if c := made[in.World.Rank]; c != nil {
								return c.Barrier(ctx, false)
							}
							return nil
						})
						for i, in := range rest {
							if made[in.World.Rank] != nil && !whole && after[i] == nil {
								t.Errorf("packet %d: rank %d has a communicator that rank %d has not: %v", at, in.World.Rank, slices.Index(made, nil), errs)
							}
						}
						nothingLeft(t, rest)
						end()
						if !reached.Load() {
							if err := errors.Join(errs...); err != nil {
								t.Errorf("nothing has happened, and yet: %v", err)
							}
							break
						}
					}
				})
			}
		}
	}
}
