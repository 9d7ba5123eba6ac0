package capi

import "github.com/weft-mpi/weft/mpi"

// The predefined attributes of communicators (MPI-5.0 §9.1.2). They have the same values on
// all of them.
const (
	keyTagUB = 501 + iota
	keyIO
	keyHost
	keyWtimeIsGlobal
	keyAppNum
	keyLastUsedCode
	keyUniverseSize
)

// commGetAttr is MPI_Comm_get_attr for the predefined attributes: value argument 2 points to
// an int, and not to a pointer to it. C has all others.
func commGetAttr(a *Args) error {
	value, ok := 0, true
	switch a.int(1) {
	case keyTagUB:
		value = mpi.TagUB
	case keyIO: // every rank does input and output
		value = mpi.AnySource
	case keyHost:
		value = mpi.ProcNull
	case keyWtimeIsGlobal:
		if mpi.WtimeIsGlobal {
			value = 1
		}
	case keyAppNum:
		value, ok = world.AppNum()
	case keyLastUsedCode:
		value = mpi.LastUsedCode()
	case keyUniverseSize: // a process that has sessions only doesn't know
		value = world.UniverseSize()
		ok = value > 0
	default:
		return fail(mpi.ErrKeyval, "the key is not predefined")
	}
	if ok {
		a.setInt(2, value)
	}
	a.setFlag(3, ok)
	return nil
}

// lastCode is MPI_ERR_LASTCODE. The program's classes and codes, and some of Weft's, are
// above it.
const lastCode = 0x3fff
