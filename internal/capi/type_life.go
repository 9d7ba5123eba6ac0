package capi

import "github.com/weft-mpi/weft/mpi"

func typeCommit(a *Args) error {
	p := a.handleAt(0)
	if p == nil {
		return errNull
	}
	_, t := partOf(*p)
	return t.Commit()
}

// typeFree is MPI_Type_free. Types that were made of the type, and operations under way,
// keep its layout.
func typeFree(a *Args) error {
	p := a.handleAt(0)
	if p == nil {
		return errNull
	}
	switch l, _ := partOf(*p); {
	case l == nil:
		return errDatatype
	case l.handle != 0:
		return fail(mpi.ErrType, "%s is predefined: only what a constructor has returned is freed", nameOf(*p))
	}
	drop(a, 0, types, datatypeNull)
	return nil
}

func typeGetTrueExtent(a *Args) error {
	_, t := a.part(0)
	if t == nil {
		return errDatatype
	}
	lb, extent := t.TrueExtent()
	a.setAint(1, lb)
	a.setAint(2, extent)
	return nil
}

func typeGetTrueExtentX(a *Args) error { return typeGetTrueExtent(a) }

// typeSetName is MPI_Type_set_name. A name that is too long is cut (MPI-5.0 §7.8).
func typeSetName(a *Args) error {
	d := types.get(a.words[0])
	if d == nil {
		return errDatatype
	}
	name := a.string(1)
	name = name[:min(len(name), nameRoom-1)]
	d.name.Store(&name)
	return nil
}

// nameRoom is MPI_MAX_OBJECT_NAME: bytes with the final zero.
const nameRoom = 128

func typeGetName(a *Args) error {
	if types.get(a.words[0]) == nil {
		return errDatatype
	}
	a.setInt(2, a.setString(1, nameOf(a.words[0]), nameRoom))
	return nil
}

// nameOf is the name of a type, or "".
func nameOf(handle uint64) string {
	if d := types.get(handle); d != nil && d.name.Load() != nil {
		return *d.name.Load()
	}
	return ""
}
