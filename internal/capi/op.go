package capi

import (
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

// The operators that MPI has (MPI-5.0 §20).
const (
	opLAnd   = 0x30
	opLOr    = 0x31
	opLXor   = 0x32
	opMinLoc = 0x38
	opMaxLoc = 0x39
)

var predefinedOps = map[uint32]*mpi.Op{
	0x21: mpi.Sum, 0x22: mpi.Min, 0x23: mpi.Max, 0x24: mpi.Prod, 0x28: mpi.BAnd, 0x29: mpi.BOr, 0x2a: mpi.BXor,
	opLAnd: mpi.LAnd, opLOr: mpi.LOr, opLXor: mpi.LXor, opMinLoc: mpi.MinLoc, opMaxLoc: mpi.MaxLoc,
	0x3c: mpi.Replace, 0x3d: mpi.NoOp,
}

// family is what MPI's operators make of a predefined datatype (MPI-5.0 §6.9.2).
type family uint8

const (
	ofNumbers    family = iota // package mpi knows
	ofCharacters               // nothing
	ofLogicals                 // only the logical operators take them
	ofPairs                    // only MPI_MINLOC and MPI_MAXLOC do
	ofRaw                      // package mpi has no such numbers, but C may have
)

// families are those of the predefined datatypes.
var families [firstSlot]family

// predefineOps gives MPI's operators their handles.
func predefineOps() {
	for handle, o := range predefinedOps {
		ops.put(handle, &op{o}, nil)
	}
	for _, p := range &predefinedTypes {
		switch {
		case p.character:
			families[p.handle] = ofCharacters
		case p.kind == "raw":
			families[p.handle] = ofRaw
		case p.logical:
			families[p.handle] = ofLogicals
		case strings.HasPrefix(p.kind, "2"), strings.HasSuffix(p.kind, "_int"):
			families[p.handle] = ofPairs
		default:
			onSlices[p.handle] = slicesByName[p.kind]
		}
	}
}

// operator is the operator that argument i is, for elements of the type that argument typ is:
// one that fits nothing if MPI has none such, and nil if it is none.
func (a *Args) operator(i, typ int) *mpi.Op {
	handle, of := a.words[i], a.words[typ]
	o := ops.get(handle)
	switch {
	case o == nil:
		return nil
	case handle >= firstSlot:
		s := slotOf(kindOp, handle)
		return function{uintptr(s.words[0]), s.ints[0] != 0}.on(of, o.o.Commutes())
	case of >= firstSlot:
		return o.o
	}
	fits := true
	switch families[of] {
	case ofCharacters:
		fits = false
	case ofLogicals:
		fits = handle == opLAnd || handle == opLOr || handle == opLXor
	case ofPairs:
		fits = handle == opMinLoc || handle == opMaxLoc
	case ofRaw:
		if f := RawOp(uint32(handle), uint32(of)); f != 0 {
			return function{f, false}.on(of, true)
		}
		fits = false
	}
	if !fits {
		return unfit
	}
	return o.o
}

// unfit is what every reduction refuses with ErrOp.
var unfit = mpi.NewTypeOp(nil)

// on is the function as an operator on elements of a datatype, a handle, which the function
// is told, even if it has been freed by then.
func (f function) on(of uint64, commutes bool) *mpi.Op {
	t := types.get(of)
	if t == nil {
		return unfit
	}
	return mpi.NewTypeOp(func(in, inout []byte, n int, _ *mpi.Datatype) {
		f.combine(in, inout, n, t, of)
	}, commuting(commutes)...)
}

func commuting(commutes bool) []mpi.OpOption {
	if commutes {
		return []mpi.OpOption{mpi.Commutes()}
	}
	return nil
}

// opCreate is MPI_Op_create. The operator's slot has the function, and whether that counts
// with 64 bits, as in MPI_Op_create_c.
func opCreate(a *Args) error {
	if a.null(0) {
		return errNull
	}
	o := mpi.NewTypeOp(func(_, _ []byte, _ int, _ *mpi.Datatype) {}, commuting(a.flag(1))...)
	h, err := ops.add(&op{o}, func(s *slot) { s.words[0], s.ints[0] = int64(a.words[0]), a.large })
	if err == nil {
		*a.handleAt(2) = uint64(h)
	}
	return err
}

func opFree(a *Args) error {
	if *a.handleAt(0) < firstSlot {
		return fail(mpi.ErrOp, "the operator is one of MPI's own, which are not freed")
	}
	drop(a, 0, ops, opNull)
	return nil
}

func opCommutative(a *Args) error {
	o := ops.get(a.words[0])
	if o == nil {
		return errOp
	}
	a.setFlag(1, o.o.Commutes())
	return nil
}
