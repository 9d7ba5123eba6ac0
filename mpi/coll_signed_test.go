package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// typing is a rank's part in a call on int32s, which each rank has in a layout of its own;
// an odd rank has float32s.
type typing struct {
	c              *mpi.Comm
	root           int
	leads, follows bool // this rank is the root; it gives the root its data, or gets some
	odd            bool
	form
	rooms []result
}

// result is memory that was full of a number, and whether sevens come.
type result struct {
	mem  []int32
	was  int32
	used bool
}

// blockLen is how many basic elements a block has, in any layout.
const blockLen = 6

// peers is how many ranks the blocks come from or go to.
func (x *typing) peers() int {
	if x.c.TestInter() {
		return x.c.RemoteSize()
	}
	return x.c.Size()
}

// per is how many elements of the rank's type are in a block.
func (x *typing) per() int {
	if !x.odd && x.c.Rank()%3 == 2 {
		return blockLen / 3
	}
	return blockLen
}

// counts are those of blocks for all peers.
func (x *typing) counts() []int { return slices.Repeat([]int{x.per()}, x.peers()) }

// buf is n blocks in mem.
func (x *typing) buf(mem []int32, n int) mpi.Buf {
	t := mpi.TypeFloat32
	switch layout := x.c.Rank() % 3; {
	case x.odd:
	case layout == 0:
		return mpi.Of(mem[:n*blockLen])
	case layout == 1:
		t = get(mpi.TypeResized(mpi.TypeInt32, 0, 8))
		ok(t.Commit())
	default:
		t = get(mpi.TypeContiguous(3, mpi.TypeInt32))
		ok(t.Commit())
	}
	return mpi.As(t, mem, n*x.per())
}

func (x *typing) send(n int) mpi.Buf {
	if x.inPlace {
		return mpi.BufInPlace
	}
	return x.buf(slices.Repeat([]int32{7}, 2*n*blockLen), n)
}

// recv is room for n blocks.
func (x *typing) recv(n int, used bool) mpi.Buf {
	v := int32(6 + btoi(x.inPlace))
	x.rooms = append(x.rooms, result{slices.Repeat([]int32{v}, 2*n*blockLen), v, used})
	return x.buf(x.rooms[len(x.rooms)-1].mem, n)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// args are those of a call.
type args struct {
	c          *mpi.Comm
	s, r       mpi.Buf
	each, into []mpi.Buf
	n          []int
	root       int
	form       form
}

func (x *typing) args(call string) (a args) {
	c, p, here := x.c, x.peers(), x.inPlace && x.leads
	a = args{c: c, n: x.counts(), root: x.root, form: x.form}
	switch call {
	case "Gather", "Gatherv", "Reduce": // one root in place
		x.inPlace = here
	case "Bcast", "Scatter", "Scatterv":
		x.inPlace = false
	}
	switch call {
	case "Bcast":
		if a.s = x.send(1); !x.leads {
			a.s = x.recv(1, x.follows)
		}
	case "Gather", "Gatherv":
		a.s, a.r = x.send(1), x.recv(p, x.leads)
	case "Scatter":
		a.s, a.r = x.send(p), x.recv(1, x.follows)
	case "Scatterv": // the root has more room than it needs, or its block stays
		if a.s, a.r = x.send(p), mpi.BufInPlace; !here {
			a.r = x.recv(1+btoi(x.leads), x.follows)
		}
	case "Allgather": // what goes one way between groups is longer
		a.s, a.r = x.send(1+btoi(!x.follows)), x.recv(p*(1+btoi(x.follows && c.TestInter())), true)
	case "Allgatherv":
		a.s, a.r = x.send(1), x.recv(p, true)
	case "Alltoall", "Alltoallv":
		a.s, a.r = x.send(p), x.recv(p, true)
	case "Alltoallw":
		for range p {
			a.each, a.into = append(a.each, x.send(1)), append(a.into, x.recv(1, true))
		}
		if x.inPlace {
			a.each = a.each[:1]
		}
	case "ReduceScatterBlock", "ReduceScatter": // as long in both groups
		n := c.Size() * max(c.RemoteSize(), 1)
		a.n = slices.Repeat([]int{n / c.Size() * x.per()}, c.Size())
		a.s, a.r = x.send(n), x.recv(n, true)
	default:
		if a.s = x.send(1); call == "Reduce" && !x.follows {
			a.s = mpi.Of([]uint8{1}) // is not used
		}
		a.r = x.recv(1, call == "Reduce" && x.leads || call != "Reduce" && (call != "Exscan" || c.Rank() > 0))
	}
	return a
}

type request = mpi.Request

// typedCalls are calls in both forms.
var typedCalls = map[string]struct {
	blocking    func(a *args) error
	nonblocking func(a *args) (request, error)
}{
	"Bcast":  {func(a *args) error { return a.c.Bcast(a.s, a.root) }, func(a *args) (request, error) { return either(a.form, a.c.Ibcast, a.c.BcastInit)(a.s, a.root) }},
	"Gather": {func(a *args) error { return a.c.Gather(a.s, a.r, a.root) }, func(a *args) (request, error) { return either(a.form, a.c.Igather, a.c.GatherInit)(a.s, a.r, a.root) }},
	"Gatherv": {func(a *args) error { return a.c.Gatherv(a.s, a.r, a.n, nil, a.root) }, func(a *args) (request, error) {
		return either(a.form, a.c.Igatherv, a.c.GathervInit)(a.s, a.r, a.n, nil, a.root)
	}},
	"Scatter": {func(a *args) error { return a.c.Scatter(a.s, a.r, a.root) }, func(a *args) (request, error) { return either(a.form, a.c.Iscatter, a.c.ScatterInit)(a.s, a.r, a.root) }},
	"Scatterv": {func(a *args) error { return a.c.Scatterv(a.s, a.r, a.n, nil, a.root) }, func(a *args) (request, error) {
		return either(a.form, a.c.Iscatterv, a.c.ScattervInit)(a.s, a.r, a.n, nil, a.root)
	}},
	"Allgather": {func(a *args) error { return a.c.Allgather(a.s, a.r) }, func(a *args) (request, error) { return either(a.form, a.c.Iallgather, a.c.AllgatherInit)(a.s, a.r) }},
	"Allgatherv": {func(a *args) error { return a.c.Allgatherv(a.s, a.r, a.n, nil) }, func(a *args) (request, error) {
		return either(a.form, a.c.Iallgatherv, a.c.AllgathervInit)(a.s, a.r, a.n, nil)
	}},
	"Alltoall": {func(a *args) error { return a.c.Alltoall(a.s, a.r) }, func(a *args) (request, error) { return either(a.form, a.c.Ialltoall, a.c.AlltoallInit)(a.s, a.r) }},
	"Alltoallv": {func(a *args) error { return a.c.Alltoallv(a.s, a.n, nil, a.r, a.n, nil) }, func(a *args) (request, error) {
		return either(a.form, a.c.Ialltoallv, a.c.AlltoallvInit)(a.s, a.n, nil, a.r, a.n, nil)
	}},
	"Alltoallw": {func(a *args) error { return a.c.Alltoallw(a.each, a.into) }, func(a *args) (request, error) {
		return either(a.form, a.c.Ialltoallw, a.c.AlltoallwInit)(a.each, a.into)
	}},
	"Reduce": {func(a *args) error { return a.c.Reduce(mpi.Max, a.s, a.r, a.root) }, func(a *args) (request, error) {
		return either(a.form, a.c.Ireduce, a.c.ReduceInit)(mpi.Max, a.s, a.r, a.root)
	}},
	"Allreduce": {func(a *args) error { return a.c.Allreduce(mpi.Max, a.s, a.r) }, func(a *args) (request, error) {
		return either(a.form, a.c.Iallreduce, a.c.AllreduceInit)(mpi.Max, a.s, a.r)
	}},
	"ReduceScatterBlock": {func(a *args) error { return a.c.ReduceScatterBlock(mpi.Max, a.s, a.r) }, func(a *args) (request, error) {
		return either(a.form, a.c.IreduceScatterBlock, a.c.ReduceScatterBlockInit)(mpi.Max, a.s, a.r)
	}},
	"ReduceScatter": {func(a *args) error { return a.c.ReduceScatter(mpi.Max, a.s, a.r, a.n) }, func(a *args) (request, error) {
		return either(a.form, a.c.IreduceScatter, a.c.ReduceScatterInit)(mpi.Max, a.s, a.r, a.n)
	}},
	"Scan":   {func(a *args) error { return a.c.Scan(mpi.Max, a.s, a.r) }, func(a *args) (request, error) { return either(a.form, a.c.Iscan, a.c.ScanInit)(mpi.Max, a.s, a.r) }},
	"Exscan": {func(a *args) error { return a.c.Exscan(mpi.Max, a.s, a.r) }, func(a *args) (request, error) { return either(a.form, a.c.Iexscan, a.c.ExscanInit)(mpi.Max, a.s, a.r) }},
}

// withBufs makes a call.
func (x *typing) withBufs(name string) error {
	call, a := typedCalls[name], x.args(name)
	if x.nonblocking {
		r, err := call.nonblocking(&a)
		if x.persistent && err == nil { // wrong types have been found before
			ok(mpi.Start(&r))
		}
		return wait(r, err)
	}
	return call.blocking(&a)
}

// withSlices makes a blocking call by a function of slices, at ranks with an even number; the
// others pass Bufs.
func withSlices[T int32 | float32](x *typing, name string) error {
	c, n, p := x.c, blockLen, x.peers()
	one, more, room := slices.Repeat([]T{7}, n), slices.Repeat([]T{7}, n*p), make([]T, n*p)
	switch {
	case c.Rank()%2 > 0 && !x.odd:
		return x.withBufs(name)
	case name == "Bcast":
		return mpi.Bcast(c, one, x.root)
	case name == "Alltoall":
		return mpi.Alltoall(c, more, room)
	case name == "Gatherv":
		return mpi.Gatherv(c, one, room, slices.Repeat([]int{n}, p), nil, x.root)
	}
	return mpi.Allreduce(c, mpi.Max, one, room)
}

// try makes a call, which fails at all ranks if it is wrong.
func (x typing) try(name string, wrong bool, call func(x *typing, name string) error) {
	var other *mpi.SignatureError
	x.c = get(x.c.Dup())
	err := call(&x, name)
	switch text := fmt.Sprint(err); {
	case !wrong && err == nil:
	case wrong && errors.Is(err, mpi.ErrNotSame) && strings.Contains(text, "by Max of float32"): // WithChecks has compared operators before
	case !wrong, !errors.Is(err, mpi.ErrType), !strings.Contains(text, "x int32 ("), !strings.Contains(text, "x float32 ("), strings.Count(text, "coll_signed_test.go:") != 2,
		errors.As(err, &other) && (other.Call != name || !strings.Contains(text, fmt.Sprintf(": rank %d ", other.Rank))), other == nil && !errors.As(err, new(*mpi.CallError)):
		stop(fmt.Errorf("%s: the error is %w", name, err))
	}
	for _, r := range x.rooms {
		if !wrong && r.used && r.mem[0] != 7 || wrong && slices.ContainsFunc(r.mem, func(v int32) bool { return v != r.was }) {
			stop(fmt.Errorf("%s, wrong %t, in place %t: rank %d has %v", name, wrong, x.inPlace, x.c.Rank(), r.mem))
		}
	}
	ok(x.c.Free())
}

// all makes every call in every form: a right one, and wrong ones of which odd says whether
// this is the odd rank.
func (x typing) all(forms []form, odd ...bool) {
	for name := range ordered(typedCalls) {
		if x.c.TestInter() && strings.HasSuffix(name, "can") {
			continue
		}
		for _, f := range forms {
			x.form = f
			for i, one := range append([]bool{false}, odd...) {
				x.odd = one
				x.try(name, i > 0, (*typing).withBufs)
				switch sliced := f == forms[0] && slices.Contains([]string{"Allreduce", "Alltoall", "Bcast", "Gatherv"}, name); {
				case sliced && one:
					x.try(name, i > 0, withSlices[float32])
				case sliced:
					x.try(name, i > 0, withSlices[int32])
				}
			}
		}
	}
}

// typeChecks are options with which ranks compare types.
var typeChecks = [][]mpi.Option{{mpi.WithTypeChecks()}, {mpi.WithTypeChecks(), mpi.WithChecks()}}

// withTypesToo is onEach, on mem also with type checks.
func withTypesToo(t *testing.T, f func(t *testing.T, fabric string, opts ...mpi.Option)) {
	onEach(t, func(t *testing.T, fabric string) {
		if f(t, fabric); fabric == "mem" {
			t.Run("types", func(t *testing.T) { f(t, fabric, mpi.WithTypeChecks()) })
		}
	})
}

func TestCollectivesOfOtherElementsFailAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for i, opts := range typeChecks {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				act(t, fabric, 5, func(_ *mpi.World, c *mpi.Comm) {
					const root = 1
					me := c.Rank()
					typing{c: c, root: root, leads: me == root, follows: true}.all(forms, me == root, me == 3)
				}, opts...)
			})
		}
	})
}

func TestCollectivesOfOtherElementsBetweenGroups(t *testing.T) {
	onBoth(t, func(s half) {
		me, root := s.x.Rank(), 0
		switch {
		case s.at == 0 && me == 0:
			root = mpi.Root
		case s.at == 0:
			root = mpi.ProcNull
		}
		typing{c: s.x, root: root, leads: root == mpi.Root, follows: s.at == 1}.all(notInPlace, root == mpi.Root, s.at == 1 && me == s.x.Size()-1)
	}, mpi.WithTypeChecks())
}

// Elements that nobody takes, or sends, are others.
func TestCollectivesOfNothingAndSomethingFail(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		some, room, n := make([]int32, 6), make([]int32, 6), 3*(1-c.Rank())
		for name, call := range ordered(map[string]func(c *mpi.Comm) error{
			"Bcast":     func(c *mpi.Comm) error { return mpi.Bcast(c, some[:n], 0) },
			"Alltoallv": func(c *mpi.Comm) error { return mpi.Alltoallv(c, some, []int{0, n}, nil, room, []int{0, 0}, nil) },
			"Allreduce": func(c *mpi.Comm) error { return mpi.Allreduce(c, mpi.Sum, some[:n], room) },
			"Gatherv":   func(c *mpi.Comm) error { return mpi.Gatherv(c, some[:n], room, []int{n, 3}, nil, 0) },
		}) {
			if err := call(get(c.Dup())); !errors.Is(err, mpi.ErrType) {
				t.Errorf("%s: rank %d gets %v", name, c.Rank(), err)
			}
		}
		// A root in place sends itself nothing, and elements without data are none.
		none := get(mpi.TypeContiguous(0, mpi.TypeInt32))
		ok(none.Commit())
		send := some[:1]
		if c.Rank() == 0 {
			send = mpi.InPlace[int32]()
		}
		ok(mpi.Gather(c, send, room[:2], 0))
		ok(mpi.Gatherv(c, send, room, []int{2, 1}, nil, 0))
		ok(c.ReduceScatter(mpi.Sum, mpi.As(none, []byte(nil), 6), mpi.As(none, []byte(nil), 3), []int{3, 3}))
	}, mpi.WithTypeChecks())
}
