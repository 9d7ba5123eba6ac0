package capi

import (
	"slices"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// What a program asks of the ABI (MPI-5.0 §20). The library has no Fortran: a wrapper above
// it says once how large Fortran's types are, for those that ask.

// errABI is MPI_ERR_ABI, which package mpi has no use for.
const errABI mpi.Class = 62

func abiGetVersion(a *Args) error {
	a.setInt(0, 1)
	a.setInt(1, 0)
	return nil
}

func abiGetInfo(a *Args) error {
	o, err := mpi.NewInfo("mpi_aint_size", "8", "mpi_count_size", "8", "mpi_offset_size", "8")
	return a.madeInfo(0, o, err)
}

// fortran is what a program has said.
var fortran struct {
	sync.Mutex
	info                      *mpi.Info // nil: nothing
	logicalTrue, logicalFalse []byte    // nil: nothing
}

// fortranKeys are what can be said.
var fortranKeys = []string{
	"mpi_logical_size", "mpi_integer_size", "mpi_real_size", "mpi_double_precision_size",
	"mpi_logical1_supported", "mpi_logical2_supported", "mpi_logical4_supported", "mpi_logical8_supported", "mpi_logical16_supported",
	"mpi_integer1_supported", "mpi_integer2_supported", "mpi_integer4_supported", "mpi_integer8_supported", "mpi_integer16_supported",
	"mpi_real2_supported", "mpi_real4_supported", "mpi_real8_supported", "mpi_real16_supported",
	"mpi_complex4_supported", "mpi_complex8_supported", "mpi_complex16_supported", "mpi_complex32_supported",
	"mpi_double_complex_supported",
}

func abiSetFortranInfo(a *Args) error {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.info != nil {
		return fail(errABI, "the program has given the sizes of Fortran's types before")
	}
	known, err := mpi.NewInfo()
	for key, value := range a.info(0).All() {
		if err == nil && slices.Contains(fortranKeys, key) {
			err = known.Set(key, value)
		}
	}
	if err == nil && known.Len() > 0 {
		fortran.info = known
	}
	return err
}

// abiGetFortranInfo is MPI_Abi_get_fortran_info, which gives MPI_INFO_NULL as long as
// nothing is known.
func abiGetFortranInfo(a *Args) error {
	fortran.Lock()
	defer fortran.Unlock()
	if fortran.info == nil {
		*a.handleAt(0) = infoNull
		return nil
	}
	return a.setInfo(0, fortran.info.Dup())
}

func abiSetFortranBooleans(a *Args) error {
	fortran.Lock()
	defer fortran.Unlock()
	size := a.int(0)
	yes, no := array[byte](a, 1, size), array[byte](a, 2, size)
	switch {
	case fortran.logicalTrue != nil:
		return fail(errABI, "the program has given the values of Fortran's logicals before")
	case size != 1 && size != 2 && size != 4 && size != 8 && size != 16:
		return fail(mpi.ErrArg, "a logical of %d bytes: it has 1, 2, 4, 8 or 16", size)
	case yes == nil || no == nil:
		return errNull
	}
	fortran.logicalTrue, fortran.logicalFalse = slices.Clone(yes), slices.Clone(no)
	return nil
}

func abiGetFortranBooleans(a *Args) error {
	fortran.Lock()
	defer fortran.Unlock()
	size := a.int(0)
	yes, no := array[byte](a, 1, size), array[byte](a, 2, size)
	switch {
	case fortran.logicalTrue == nil:
		a.setFlag(3, false)
		return nil
	case size != len(fortran.logicalTrue):
		return fail(errABI, "a logical of %d bytes, and the program has said that it has %d", size, len(fortran.logicalTrue))
	case yes == nil || no == nil:
		return errNull
	}
	copy(yes, fortran.logicalTrue)
	copy(no, fortran.logicalFalse)
	a.setFlag(3, true)
	return nil
}
