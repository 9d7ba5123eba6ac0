package comm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// chain is a plan for these tests: Out becomes the combination of all In, in the
// order of the ranks. It goes up the ranks, and the last one sends it to all.
func chain(rank, size, n int) *coll.Plan {
	all, in, out := coll.Ref{Mem: coll.Temp, N: n}, coll.Ref{Mem: coll.In, N: n}, coll.Ref{Mem: coll.Out, N: n}
	p := &coll.Plan{Temp: n}
	if rank == 0 {
		p.Steps = append(p.Steps, coll.Step{Do: coll.Copy, A: in, To: out})
	} else {
		p.Steps = append(p.Steps, coll.Step{Do: coll.Recv, Peer: rank - 1, To: all}, coll.Step{Do: coll.Wait},
			coll.Step{Do: coll.Combine, A: all, B: in, To: out})
	}
	if rank < size-1 {
		p.Steps = append(p.Steps, coll.Step{Do: coll.Send, Peer: rank + 1, A: out}, coll.Step{Do: coll.Wait},
			coll.Step{Do: coll.Recv, Peer: size - 1, To: out}, coll.Step{Do: coll.Wait})
		return p
	}
	for r := range size - 1 {
		p.Steps = append(p.Steps, coll.Step{Do: coll.Send, Peer: r, A: out})
	}
	p.Steps = append(p.Steps, coll.Step{Do: coll.Wait})
	return p
}

// all is a plan for these tests: Out becomes the In of all ranks, n elements each,
// all messages being under way at once.
func all(rank, size, n int) *coll.Plan {
	p := &coll.Plan{}
	for r := range size {
		if r != rank {
			p.Steps = append(p.Steps, coll.Step{Do: coll.Recv, Peer: r, To: coll.Ref{Mem: coll.Out, At: r * n, N: n}},
				coll.Step{Do: coll.Send, Peer: r, A: coll.Ref{Mem: coll.In, N: n}})
		}
	}
	p.Steps = append(p.Steps, coll.Step{Do: coll.Copy, A: coll.Ref{Mem: coll.In, N: n}, To: coll.Ref{Mem: coll.Out, At: rank * n, N: n}},
		coll.Step{Do: coll.Wait})
	return p
}

// digits is an operator that shows the order: it appends decimal digits.
func digits(lower, upper, to []byte) {
	for i := 0; i < len(to); i += 8 {
		a, b := binary.LittleEndian.Uint64(lower[i:]), binary.LittleEndian.Uint64(upper[i:])
		scale := uint64(10)
		for scale <= b {
			scale *= 10
		}
		binary.LittleEndian.PutUint64(to[i:], a*scale+b)
	}
}

func words(n int, v uint64) []byte {
	b := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

// ways are the ways to make a collective call to its end.
var ways = map[string]func(ctx context.Context, c *Comm, call coll.Call, p *coll.Plan, o Operands) error{
	"blocking": func(ctx context.Context, c *Comm, call coll.Call, p *coll.Plan, o Operands) error {
		return c.Collective(ctx, call, p, &o)
	},
	"nonblocking": func(ctx context.Context, c *Comm, call coll.Call, p *coll.Plan, o Operands) error {
		h := c.Icollective(ctx, call, p, &o)
		_, err := progress.WaitResult(&h)
		return err
	},
	"persistent": func(ctx context.Context, c *Comm, call coll.Call, p *coll.Plan, o Operands) error {
		h, err := c.Persist(ctx, call, p, &o)
		if err != nil {
			return err
		}
		err = again(h)
		_, freed := progress.Release(&h)
		return errors.Join(err, freed)
	},
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Plans are carried out step by step: operands in their order, messages of every
// length, the user's operators too.
func TestAPlanIsCarriedOut(t *testing.T) {
	for way, call := range ways {
		for _, n := range []int{1, 100, 10_000, 100_000} {
			for size := 1; size <= 5; size++ {
				for _, user := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d ranks/%d words/user %t", way, size, n, user), func(t *testing.T) {
						noErrors(t, each(engines(t, size), func(ctx context.Context, in *Instance) error {
							c := in.World
							want := uint64(0)
							for r := range size {
								want = want*10 + uint64(r+1)
							}
							out := make([]byte, 8*n)
							o := Operands{In: words(n, uint64(c.Rank+1)), Out: out, Elem: 8, Combine: digits, User: user}
							if err := call(ctx, c, coll.Allreduce, chain(c.Rank, size, n), o); err != nil {
								return err
							}
							if !bytes.Equal(out, words(n, want)) {
								return fmt.Errorf("rank %d has %d, want %d", c.Rank, binary.LittleEndian.Uint64(out), want)
							}
							out = make([]byte, 8*n*size)
							o = Operands{In: words(n, uint64(c.Rank)), Out: out, Elem: 8}
							if err := call(ctx, c, coll.Allgather, all(c.Rank, size, n), o); err != nil {
								return err
							}
							for r := range size {
								if !bytes.Equal(out[8*n*r:8*n*(r+1)], words(n, uint64(r))) {
									return fmt.Errorf("rank %d has another block of rank %d", c.Rank, r)
								}
							}
							return nil
						}))
					})
				}
			}
		}
	}
}

// Calls under way at once do not mix, whether blocking or not, and may be completed
// in any order.
func TestCallsUnderWayDoNotMix(t *testing.T) {
	const size, calls, n = 4, 40, 20
	noErrors(t, each(engines(t, size), func(ctx context.Context, in *Instance) error {
		c := in.World
		var hs []progress.Handle
		var outs [][]byte
		for i := range calls {
			out := make([]byte, 8*n)
			outs = append(outs, out)
			o := Operands{In: words(n, uint64(i*size+c.Rank)), Out: out, Elem: 8, Combine: func(a, b, to []byte) {
				for k := 0; k < len(to); k += 8 {
					binary.LittleEndian.PutUint64(to[k:], binary.LittleEndian.Uint64(a[k:])+binary.LittleEndian.Uint64(b[k:]))
				}
			}}
			if i%3 == 0 {
				if err := c.Collective(ctx, coll.Allreduce, chain(c.Rank, size, n), &o); err != nil {
					return err
				}
				continue
			}
			hs = append(hs, c.Icollective(ctx, coll.Allreduce, chain(c.Rank, size, n), &o))
		}
		if c.Rank%2 == 0 {
			slices.Reverse(hs)
		}
		if err := progress.WaitAll(hs, nil); err != nil {
			return err
		}
		for i, out := range outs {
			if want := uint64(i*size*size + 6); !bytes.Equal(out, words(n, want)) {
				return fmt.Errorf("call %d gives %d, want %d", i, binary.LittleEndian.Uint64(out), want)
			}
		}
		return nil
	}))
}

// A later call's message goes first where an earlier call waits: each call gets its
// own.
func TestALaterCallMayEndFirst(t *testing.T) {
	ended := make(chan struct{})
	noErrors(t, each(engines(t, 3), func(ctx context.Context, in *Instance) error {
		c, word := in.World, func(m coll.Mem) coll.Ref { return coll.Ref{Mem: m, N: 1} }
		step := func(do coll.Do, peer int) coll.Step {
			return coll.Step{Do: do, Peer: peer, A: word(coll.In), To: word(coll.Out)}
		}
		wait := coll.Step{Do: coll.Wait}
		// The first goes from 2 to 0, and then from 0 to 1; the second from 0 to 1.
		first := [][]coll.Step{
			{step(coll.Recv, 2), wait, {Do: coll.Send, Peer: 1, A: word(coll.Out)}, wait},
			{step(coll.Recv, 0), wait},
			{step(coll.Send, 0), wait}}[c.Rank]
		second := [][]coll.Step{{step(coll.Send, 1), wait}, {step(coll.Recv, 0), wait}, nil}[c.Rank]
		if c.Rank == 2 {
			<-ended
		}
		a := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8}
		b := Operands{In: words(1, 2), Out: make([]byte, 8), Elem: 8}
		ha := c.Icollective(ctx, coll.Bcast, &coll.Plan{Steps: first}, &a)
		hb := c.Icollective(ctx, coll.Bcast, &coll.Plan{Steps: second}, &b)
		hs := []progress.Handle{ha, hb}
		if c.Rank == 1 {
			at, _, err := progress.WaitAny(hs)
			close(ended)
			if err != nil || at != 1 {
				return fmt.Errorf("call %d has ended first, with %d: %v", at, a.Out[0], err)
			}
		}
		if err := progress.WaitAll(hs, nil); err != nil {
			return err
		}
		if c.Rank == 1 && (a.Out[0] != 1 || b.Out[0] != 2) {
			return fmt.Errorf("the calls give %d and %d", a.Out[0], b.Out[0])
		}
		return nil
	}))
}

// A call is told to run its operator where that is what it waits for, such as one whose
// operator waits for the call itself.
func TestACallTellsThatItsOperatorRuns(t *testing.T) {
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		const want = "runs its operator, or a long copy"
		o := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, User: true}
		told := want // rank 0 combines nothing
		o.Combine = func(lower, upper, to []byte) {
			in.Loop.Exclusive(func() { in.Loop.EachOfAll(func(r *progress.Request) { told = r.Describe(true).State }) })
			digits(lower, upper, to)
		}
		h := in.World.Icollective(ctx, coll.Allreduce, chain(in.World.Rank, 2, 1), &o)
		if _, err := progress.WaitResult(&h); err != nil || told != want {
			return fmt.Errorf("rank %d: %q, %v", in.World.Rank, told, err)
		}
		return nil
	}))
}

// A rank whose part fails makes the call, and every later one, fail at all ranks,
// which hear why.
func TestAFailureEndsTheCallAtAllRanks(t *testing.T) {
	failure := errors.New("there is no result")
	for way, call := range ways {
		for _, c := range []struct {
			name   string
			breaks func(ctx context.Context, c *Comm, o *Operands) context.Context
			want   string
		}{
			{"the context ends", func(ctx context.Context, c *Comm, o *Operands) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return ctx
			}, "context canceled"},
			{"the operator panics", func(ctx context.Context, c *Comm, o *Operands) context.Context {
				o.User, o.Combine = true, func(a, b, to []byte) { panic(failure) }
				return ctx
			}, failure.Error()},
			{"the operator ends its goroutine", func(ctx context.Context, c *Comm, o *Operands) context.Context {
				o.User, o.Combine = true, func(a, b, to []byte) { runtime.Goexit() }
				return ctx
			}, progress.ErrExit.Error()},
		} {
			t.Run(way+"/"+c.name, func(t *testing.T) {
				const size, n = 4, 10
				failed := make(chan struct{})
				errs := each(engines(t, size), func(ctx context.Context, in *Instance) (err error) {
					w := in.World
					o := Operands{In: words(n, 1), Out: make([]byte, 8*n), Elem: 8, Combine: digits}
					until := ctx
					switch w.Rank {
					case 2:
						until = c.breaks(ctx, w, &o)
					case 0:
						if c.name == "the context ends" { // else it might come too late
							<-failed
						}
					}
					done := make(chan error, 1)
					go func() { // which the operator may end
						defer close(done)
						done <- call(until, w, coll.Allreduce, chain(w.Rank, size, n), o)
					}()
					err = <-done
					if w.Rank == 2 {
						close(failed)
					}
					if later := w.Collective(ctx, coll.Allreduce, chain(w.Rank, size, n), &o); later == nil {
						return fmt.Errorf("rank %d: a later call has gone well", w.Rank)
					}
					if later := w.Barrier(ctx, false); later == nil {
						return fmt.Errorf("rank %d: a later barrier has gone well", w.Rank)
					}
					return err
				})
				for rank, err := range errs {
					var told *cause.CallError
					switch {
					case rank == 2 && err == nil && strings.Contains(c.name, "ends its goroutine"):
						// nobody is left to return to
					case err == nil || !strings.Contains(err.Error(), c.want):
						t.Errorf("rank %d: %v, want one that says %q", rank, err, c.want)
					case rank != 2 && (!errors.As(err, &told) || told.Rank != 2):
						t.Errorf("rank %d: %v, want an abort by rank 2", rank, err)
					}
				}
			})
		}
	}
}

// Messages that are longer or shorter than the arguments say fail the call.
func TestCountsThatDifferFailTheCall(t *testing.T) {
	for way, call := range ways {
		for _, n := range []int{9, 11} {
			for name, plan := range map[string]func(rank, size, n int) *coll.Plan{"chain": chain, "all": all} {
				t.Run(fmt.Sprint(way, n, name), func(t *testing.T) {
					for rank, err := range each(engines(t, 3), func(ctx context.Context, in *Instance) error {
						count := 10
						if in.World.Rank == 1 {
							count = n
						}
						o := Operands{In: words(count, 1), Out: make([]byte, 8*3*count), Elem: 8, Combine: digits}
						return call(ctx, in.World, coll.Allgather, plan(in.World.Rank, 3, count), o)
					}) {
						if err == nil {
							t.Errorf("rank %d has no error", rank)
						}
						if name == "chain" && n == 11 && rank == 1 && !errors.As(err, new(*cause.LengthError)) { // it has seen it first
							t.Errorf("rank 1: %v, want one about the length", err)
						}
					}
				})
			}
		}
	}
}

// A death ends calls at all ranks.
func TestADeathEndsCalls(t *testing.T) {
	for way, call := range ways {
		t.Run(way, func(t *testing.T) {
			const size = 4
			ranks := engines(t, size)
			for rank, err := range each(ranks, func(ctx context.Context, in *Instance) error {
				if in.World.Rank == 1 {
					for _, other := range ranks {
						if other != in {
							other.Fail(1)
						}
					}
					return fabric.ErrPeerDown
				}
				o := Operands{In: words(1, 1), Out: make([]byte, 8*size), Elem: 8}
				return call(ctx, in.World, coll.Allgather, all(in.World.Rank, size, 1), o)
			}) {
				if !errors.Is(err, fabric.ErrPeerDown) {
					t.Errorf("rank %d: %v, want a death", rank, err)
				}
			}
		})
	}
}

// A second goroutine in a blocking call is told so, and the first one goes on.
func TestASecondGoroutineInACallIsRefused(t *testing.T) {
	inside := make(chan struct{})
	refused := make(chan struct{})
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c := in.World
		o := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, User: true, Combine: func(a, b, to []byte) {
			close(inside)
			<-refused
			digits(a, b, to)
		}}
		if c.Rank == 1 {
			go func() {
				defer close(refused)
				<-inside
				ended, cancel := context.WithCancel(ctx)
				cancel() // so that nothing hangs if it is not refused
				if err := c.Collective(ended, coll.Allreduce, chain(1, 2, 1), &o); err != ErrBusy {
					t.Errorf("the second call gives %v", err)
				}
			}()
		}
		return c.Collective(ctx, coll.Allreduce, chain(c.Rank, 2, 1), &o)
	}))
}

// An abort that comes before its communicator is made ends the calls there too.
func TestAnAbortMayComeBeforeItsCommunicator(t *testing.T) {
	ranks := engines(t, 2)
	in := ranks[0]
	news := abort{1, &cause.CallError{Rank: 1, World: 1, Code: 16, Text: "no"}}
	if c := in.concerned(40, news); c != nil {
		t.Fatal("there is a communicator 40")
	}
	c := in.add(&Comm{P2P: in.P2P, ID: 40, Rank: 0, Size: 2, in: in})
	o := Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that nothing hangs if it is not known
	err := c.Collective(ended, coll.Allgather, all(0, 2, 1), &o)
	var told *cause.CallError
	if !errors.As(err, &told) || *told != *news.err {
		t.Errorf("the call gives %v", err)
	}
	c.Free()
	in.Loop.Exclusive(func() {
		if err := in.P2P.Forbidden(c.Library()); err != nil {
			t.Error("the context of a freed communicator is forbidden")
		}
	})
	for id := range uint32(2 * maxEarly) {
		in.concerned(1000+2*id, news)
	}
	if len(in.early) > maxEarly {
		t.Errorf("%d aborts are kept", len(in.early))
	}
}

// A blocking call of short messages allocates nothing.
func TestABlockingCallAllocatesNothing(t *testing.T) {
	const calls = 200
	noErrors(t, each(engines(t, 2), func(ctx context.Context, in *Instance) error {
		c, p := in.World, chain(in.World.Rank, 2, 1)
		o := Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8, Combine: digits}
		if c.Rank == 1 {
			for range calls + 1 { // AllocsPerRun calls once more
				if err := c.Collective(context.Background(), coll.Allreduce, p, &o); err != nil {
					return err
				}
			}
			return nil
		}
		var err error
		if n := testing.AllocsPerRun(calls, func() { err = errors.Join(err, c.Collective(context.Background(), coll.Allreduce, p, &o)) }); n >= 1 {
			return fmt.Errorf("%v allocations a call", n)
		}
		return err
	}))
}
