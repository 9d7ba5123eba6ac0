package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

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
