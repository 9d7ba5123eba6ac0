package rma

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// A dynamic window (MPI-4.0 §12.2.4) has no parts but memory that each rank attaches
// and detaches as it likes, and that others name by its address there. All goes in
// packets: the owner of the target's loop looks the address up, so one that is stale
// is refused in words, whatever the fabric.

// attached is memory of this rank in a dynamic window.
type attached struct {
	addr uint64
	mem  []byte
}

// AttachError says why memory can't be attached, or detached.
type AttachError struct {
	Addr  uint64 // of the memory
	Other uint64 // of what it overlaps, if it is to be attached
}

func (e *AttachError) Error() string {
	if e.Other == 0 {
		return fmt.Sprintf("no memory at %#x is attached to the window: detach what Attach was given", e.Addr)
	}
	return fmt.Sprintf("the memory at %#x overlaps what is attached at %#x: detach that first", e.Addr, e.Other)
}

// EndedError says that a rank has freed the window, which it does without waiting for
// the others once one of them is down.
type EndedError struct{ Rank int } // in the window

func (e *EndedError) Error() string {
	return fmt.Sprintf("rank %d has freed the window, since another rank is down: free it here too", e.Rank)
}

// refusal is the error of a target that has refused an operation.
func refusal(rank int, h wire.RRefusedHeader) error {
	switch h.At() {
	case wire.RGone:
		return &EndedError{rank}
	case wire.RUnknown:
		return &UnknownTypeError{rank}
	}
	return &RangeError{rank, h.At(), h.Bytes()}
}

// RangeError says that memory at a target is not the window's.
type RangeError struct {
	Rank        int    // in the window
	Addr, Bytes uint64 // at the target
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%d bytes at %#x of rank %d are not attached to the window, or not any more", e.Bytes, e.Addr, e.Rank)
}

// Attach adds memory to a dynamic window (MPI_Win_attach). It is the window's until
// Detach. Local.
func (w *Win) Attach(mem []byte) (addr uint64, err error) {
	addr = uint64(addressOf(mem))
	w.e.loop.Exclusive(func() {
		i, _ := slices.BinarySearchFunc(w.attached, addr, func(a attached, addr uint64) int { return cmp.Compare(a.addr, addr) })
		switch {
		case i > 0 && w.attached[i-1].addr+uint64(len(w.attached[i-1].mem)) > addr:
			err = &AttachError{addr, w.attached[i-1].addr}
		case i < len(w.attached) && addr+uint64(max(len(mem), 1)) > w.attached[i].addr:
			err = &AttachError{addr, w.attached[i].addr}
		default:
			w.attached = slices.Insert(w.attached, i, attached{addr, w.exposed(addr, mem)})
		}
	})
	return addr, err
}

// Detach takes memory out of a dynamic window (MPI_Win_detach). When it has returned no
// operation uses the memory, and later ones are refused. Local.
func (w *Win) Detach(mem []byte) (err error) {
	addr := uint64(addressOf(mem))
	w.e.loop.Exclusive(func() {
		i, found := slices.BinarySearchFunc(w.attached, addr, func(a attached, addr uint64) int { return cmp.Compare(a.addr, addr) })
		if !found {
			err = &AttachError{Addr: addr}
			return
		}
		w.attached = slices.Delete(w.attached, i, i+1)
		if w.check != nil {
			w.check.detach(addr)
		}
	})
	return err
}

// find is n bytes at an address that is attached, or nil.
func (w *Win) find(addr, n uint64) []byte {
	i, found := slices.BinarySearchFunc(w.attached, addr, func(a attached, addr uint64) int { return cmp.Compare(a.addr, addr) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	a := w.attached[i]
	off := addr - a.addr
	if off > uint64(len(a.mem)) || n > uint64(len(a.mem))-off {
		return nil
	}
	return a.mem[off : off+n : off+n]
}

// refuse notes that an operation of a peer names memory that is not attached: the
// first one since its last flush is told by the reply to the next.
func (w *Win) refuse(from fabric.Peer, addr, n uint64) {
	if w.refused == nil {
		w.refused = map[fabric.Peer][2]uint64{}
	}
	if _, told := w.refused[from]; !told {
		w.refused[from] = [2]uint64{addr, n}
	}
}
