package mpi

import (
	"math"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Count is the length of the message in elements of type d, as sent, even if the receive
// buffer was shorter (MPI_Get_count, MPI-4.0 §3.2.5). It is Undefined if that is no whole
// number of elements, or d is nil. Local.
func (st Status) Count(d *Datatype) int { return st.in(d, (*datatype.Type).Count) }

// Elements is the length of the message in basic elements, as sent, if it is one of
// elements of type d (MPI_Get_elements, MPI-4.0 §5.1.11): the last of those need not be
// whole, as for Count. A pair has two basic elements. It is Undefined if a basic element is
// not whole, or d is nil. Local.
func (st Status) Elements(d *Datatype) int { return st.in(d, (*datatype.Type).CountElements) }

func (st Status) in(d *Datatype, count func(*datatype.Type, int) (int, bool)) int {
	if d.usable() != nil || st.Bytes > math.MaxInt {
		return Undefined
	}
	if n, ok := count(d.t, int(st.Bytes)); ok {
		return n
	}
	return Undefined
}

// SetElements sets the status to n received basic elements of a message of type d, so that
// Elements is n (MPI_Status_set_elements, MPI-4.0 §13.3), for generalized requests. It
// fails with ErrArg for a nil st, ErrType for a d that is nil or freed, and ErrCount
// for an n that no message has. Local.
func (st *Status) SetElements(d *Datatype, n int) error {
	const call = "Status.SetElements"
	if st == nil {
		return raiseSelf(badArg(call, ErrArg, "the pointer to the status is nil"))
	}
	if err := d.refuse(call); err != nil {
		return raiseSelf(err)
	}
	bytes, ok := d.t.ElementBytes(n)
	if !ok {
		return raiseSelf(badArg(call, ErrCount, "argument 2, n = %d: no message of %v has so many basic elements", n, d))
	}
	st.Bytes = uint64(bytes)
	return nil
}
