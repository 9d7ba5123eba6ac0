package mpi

import (
	"math"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// The collective calls on Bufs make the operation of those on slices, with the bytes of
// the elements as what is counted, or with an operator the basic elements. So a rank may
// pass a slice where another one passes a Buf. The types show only in the blocks, which
// are whole elements of them, and in memory that is not one range: see coll.Gaps.

// take has the operation use the Bufs that are significant at this rank.
func (x *operation) take(c *Comm, call string, send, recv *Buf, sends, recvs bool) (err error) {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	x.begins(send, recv)
	if sends && !x.here {
		if x.sends, err = x.memory(call, "send", send, false, 1); err != nil {
			return err
		}
		x.sendUnit = send.bytesEach()
	}
	if recvs && !x.instead {
		if x.recvs, err = x.memory(call, "recv", recv, true, 1); err != nil {
			return err
		}
		x.recvUnit = recv.bytesEach()
	}
	return nil
}

// begins has the operation count bytes.
func (x *operation) begins(send, recv *Buf) {
	x.bufs, x.o.Elem = true, 1
	x.here, x.instead = send.inPlace(), recv.inPlace()
	x.sendType, x.recvType = send.t, recv.t
}

// takeRooted is take for calls with a root, which has the only send (fromRoot) or the
// only recv.
func (x *operation) takeRooted(c *Comm, call string, send, recv *Buf, root int, fromRoot bool) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	sends, recvs := c.rooted(root, fromRoot)
	return x.take(c, call, send, recv, sends, recvs)
}

// rooted reports which buffers are significant at this rank in a call with a root.
func (c *Comm) rooted(root int, fromRoot bool) (sends, recvs bool) {
	here, elsewhere := root == c.rank, true
	if c.remote > 0 {
		here, elsewhere = root == Root, root >= 0
	}
	if fromRoot {
		return here, elsewhere
	}
	return elsewhere, here
}

// memory has the operation use b, the call's argument arg, for its input or its result
// (into), at addresses that are multiples of align. It returns how many bytes the
// elements have.
func (x *operation) memory(call, arg string, b *Buf, into bool, align int) (int, error) {
	if mem, ok := b.dense(); ok && aligned(mem, align) {
		x.use(mem, into)
		return len(mem), nil
	}
	if err := b.check(call, arg, into && !x.inBlocks); err != nil || b.t == nil {
		return 0, err
	}
	if x.gapped == nil {
		x.gapped = newGapped()
		x.o.Gaps = &x.gapped.gaps
	}
	g, at := &x.gapped.in, &x.o.Gaps.In
	if into {
		g, at = &x.gapped.out, &x.o.Gaps.Out
	}
	g.b, *at = *b, g
	if err := g.at.Reset(b.t.t, b.n, b.mem, b.origin); err != nil {
		return 0, &Error{Class: typeClass(err), Call: call, Err: bufError{arg, err}}
	}
	return g.at.Size(), nil
}

func (x *operation) use(mem []byte, into bool) {
	if into {
		x.o.Out = mem
	} else {
		x.o.In = mem
	}
}

// dense is the memory of b's elements, if they are one range of it and nothing is wrong
// with b.
func (b *Buf) dense() ([]byte, bool) {
	if b.t == nil || b.t.t == nil || b.t.freed.Load() {
		return nil, false
	}
	return b.t.t.Bytes(b.n, b.mem, b.origin)
}

// aligned reports whether the address of mem is a multiple of align.
func aligned(mem []byte, align int) bool { return align == 1 || addressOf(mem)%uintptr(align) == 0 }

// bytesEach is how many bytes an element of a Buf has.
func (b *Buf) bytesEach() int {
	if b.t == nil {
		return 0
	}
	return b.t.t.Size()
}

// gaps says which memory of the operation has gaps.
func (x *operation) gaps() (g coll.Gaps) {
	if x.o.Gaps != nil && x.o.Gaps.In != nil {
		g |= coll.GapsIn
	}
	if x.o.Gaps != nil && x.o.Gaps.Out != nil {
		g |= coll.GapsOut
	}
	return g
}

// wholeElements refuses a call whose blocks begin or end within an element of a Buf, and
// completes the key of its plan.
func (x *operation) wholeElements(c *Comm, call string, k *comm.PlanKey) error {
	k.Gaps = x.gaps()
	if x.sendUnit <= 1 && x.recvUnit <= 1 {
		return nil
	}
	arrives := k.Count
	if k.Call.Near() || c.remote > 0 && (k.Call == coll.Allgather || k.Call == coll.Alltoall) {
		arrives = k.RecvCount
	}
	switch {
	case k.Count%x.unit("send") != 0:
		return x.cutElements(call, "send", k.Count)
	case arrives%x.unit("recv") != 0:
		return x.cutElements(call, "recv", arrives)
	}
	return nil
}

// cutElements is the error of a block of n elements of the operation.
func (x *operation) cutElements(call, buffer string, n int) error {
	return badArg(call, ErrCount, "a block has %d %s, which is no whole number of elements of %s: they have %d each", n, x.counted(), buffer, x.unit(buffer))
}

// blocksOfBuf checks the blocks of a Buf that has n elements of the operation.
func (x *operation) blocksOfBuf(call, buffer string, n int, counts, displs []int, of parties) (blocks, error) {
	unit := x.sendUnit
	if buffer == "recv" {
		unit = x.recvUnit
	}
	room := math.MaxInt
	if unit > 0 {
		room = n / unit
	}
	if x.inBlocks && buffer == "recv" && unit > 0 && len(counts) > 0 {
		if overlaps, _ := x.recvType.t.Overlaps(min(slices.Max(counts), room)); overlaps {
			return blocks{}, badArg(call, ErrType, "recv: some elements of a block overlap, so that nothing can be received into it")
		}
	}
	b, err := of.blocks(call, buffer, room, counts, displs)
	if err != nil {
		return b, err
	}
	in := blocks{make([]int, of.n), make([]int, of.n)}
	for i, n := range b.counts {
		if n > 0 {
			in.counts[i], in.displs[i] = n*unit, b.displs[i]*unit
		}
	}
	return in, nil
}
