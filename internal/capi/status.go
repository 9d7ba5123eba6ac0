package capi

import "github.com/weft-mpi/weft/mpi"

// status is MPI_Status (MPI-5.0 §20). What it has inside is read by C, too.
type status struct {
	source, tag, err int32
	cancelled        int32
	bytes            [2]int32 // low half, high half
	unused           [2]int32
}

func (a *Args) status(i int) *status { return (*status)(a.pointer(i)) }

// set writes all of a status but its error: only calls that return MPI_ERR_IN_STATUS set
// that (MPI-4.0 §3.2.5).
func (s *status) set(st mpi.Status) {
	if s == nil {
		return
	}
	s.source, s.tag, s.cancelled = int32(st.Source), int32(st.Tag), 0
	if st.Cancelled {
		s.cancelled = 1
	}
	s.bytes = [2]int32{int32(uint32(st.Bytes)), int32(st.Bytes >> 32)}
}

// get is the status as Go has it.
func (s *status) get() mpi.Status {
	return mpi.Status{
		Source: int(s.source), Tag: int(s.tag), Cancelled: s.cancelled != 0,
		Bytes: uint64(uint32(s.bytes[0])) | uint64(uint32(s.bytes[1]))<<32,
	}
}
