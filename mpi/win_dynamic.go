package mpi

import "github.com/weft-mpi/weft/rma"

// WinCreateDynamic makes a window without memory, to which each rank attaches some as it
// likes (MPI_Win_create_dynamic, MPI-4.0 §12.2.4). A displacement is an address at the
// target, which Attach returns there and which the program sends to others. Operations
// on memory that is not attached, or not any more, fail with ErrRMARange at the call that
// ends them, and write nothing. All operations go in messages, which the target's library
// serves: other windows are faster. All ranks of c call it, in the same order among its
// collective calls. Errors are those of WinCreate. Non-local.
func WinCreateDynamic(c *Comm, o WinOptions) (*Win, error) {
	k := windowOf[byte](c, "WinCreateDynamic", FlavorDynamic, o)
	k.part.Unit = rma.Dynamic
	return k.make()
}

// Attach adds memory to a dynamic window, and returns its address
// (MPI_Win_attach, MPI-4.0 §12.2.4): the displacement of its first byte. It must stay
// where it is until Detach or Free. Memory that overlaps what is attached is
// ErrRMAAttach. Any number may be attached. Of memory without elements nothing is, any
// number of times; its address is 0. Local.
func Attach[T Scalar](w *Win, memory []T) (addr int, err error) {
	const call = "Attach"
	if err := w.checkDynamic(call); err != nil {
		return 0, err
	}
	if len(memory) == 0 {
		return 0, nil
	}
	a, err := w.core.Attach(bytesOf(memory))
	return int(a), w.fail(call, err)
}

// Detach takes memory out of a dynamic window that Attach has added, by its beginning
// (MPI_Win_detach, MPI-4.0 §12.2.4). Afterwards no operation uses it. Memory that is not
// attached is ErrRMAAttach, unless it has no elements. Local.
func Detach[T Scalar](w *Win, memory []T) error {
	const call = "Detach"
	if err := w.checkDynamic(call); err != nil {
		return err
	}
	if len(memory) == 0 {
		return nil
	}
	return w.fail(call, w.core.Detach(bytesOf(memory)))
}

func (w *Win) checkDynamic(call string) error {
	switch {
	case w.gone():
		return w.explain(call)
	case w.kind != FlavorDynamic:
		return w.raise(badArg(call, ErrRMAFlavor, "memory is attached to dynamic windows: make one with WinCreateDynamic"))
	}
	return nil
}
