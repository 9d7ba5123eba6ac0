package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// Atomic acts on memory of the peer that both sides reach with the processor's
// own atomics: its arena and its shared memory.
func (e *endpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	if !e.up || e.d.closed.Load() {
		return e.notUp()
	}
	if dst.Key == keyVirtual {
		return fabric.ErrUnsupported
	}
	if dst.Key > keyShare || dst.Len < 8 || dst.Addr%8 != 0 {
		return fabric.ErrBadRemote
	}
	b, err := e.info.mapped(dst.Key, dst.Addr, 8)
	switch {
	case err != nil:
	case !mayWrite(e.tx.mem, e.info):
		err = e.moveError(e.leftError())
	default:
		err = apply(a, word64(b, 0))
		wrote(e.tx.mem, e.info)
	}
	e.over(op, err)
	return nil
}

// apply carries out a on a word that another process may also act on.
func apply(a fabric.Atomic, w *uint64) error {
	switch a.Kind {
	case fabric.FetchAdd:
		*a.Result = atomic.AddUint64(w, a.Operand) - a.Operand
	case fabric.CompareSwap:
		for {
			old := atomic.LoadUint64(w)
			if old == a.Compare && !atomic.CompareAndSwapUint64(w, old, a.Operand) {
				continue
			}
			*a.Result = old
			return nil
		}
	default:
		return fmt.Errorf("atomic kind %d: %w", a.Kind, fabric.ErrUnsupported)
	}
	return nil
}
