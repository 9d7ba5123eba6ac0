package capi

import "github.com/weft-mpi/weft/mpi"

// Error classes and codes (MPI-5.0 §9.4 and §9.5). A code of the program's is a number of
// 16 bits; above that are those that Call gives errors.

const maxCode = 0xffff

// classOf is the class of a code.
func classOf(code int32) mpi.Class { return mpi.ErrorClass(mpi.Class(code & maxCode)) }

// known reports whether there is such a class. The program's classes and codes, and some
// classes of Weft's, are above MPI_ERR_LASTCODE.
func known(class mpi.Class) bool {
	tools := class >= 1001 && class <= 1018 // MPI_T_ERR_CANNOT_INIT to MPI_T_ERR_PVAR_NO_ATOMIC
	added := class >= lastCode && class <= mpi.Class(mpi.LastUsedCode())
	return class >= 0 && class <= errABI || tools || added
}

func errorClass(a *Args) error {
	code := int32(a.int(0))
	if class := classOf(code); code >= 0 && known(class) {
		a.setInt(1, int(class))
		return nil
	}
	return errNoCode(code)
}

func errorString(a *Args) error {
	code := int32(a.int(0))
	if code < 0 || !known(classOf(code)) {
		return errNoCode(code)
	}
	a.setInt(2, a.setString(1, said.text(code), mpi.MaxErrorString+1))
	return nil
}

func errNoCode(code int32) error {
	return fail(mpi.ErrArg, "%d is no error code: give what a call has returned, or one of the program's", code)
}

func addErrorClass(a *Args) error {
	class, err := mpi.AddErrorClass()
	if err == nil && class > maxCode {
		_ = mpi.RemoveErrorClass(class) // there is one, which has no codes
		err = errFull
	}
	if err == nil {
		a.setInt(0, int(class))
	}
	return err
}

func addErrorCode(a *Args) error {
	code, err := mpi.AddErrorCode(mpi.Class(a.int(0)))
	if err == nil && code > maxCode {
		_ = mpi.RemoveErrorCode(code) // there is one
		err = errFull
	}
	if err == nil {
		a.setInt(1, int(code))
	}
	return err
}

var errFull = fail(mpi.ErrOther, "every number of an error class or code has been used: there are %d for programs", maxCode-lastCode)

func addErrorString(a *Args) error { return mpi.AddErrorString(mpi.Class(a.int(0)), a.string(1)) }

func removeErrorClass(a *Args) error  { return mpi.RemoveErrorClass(mpi.Class(a.int(0))) }
func removeErrorCode(a *Args) error   { return mpi.RemoveErrorCode(mpi.Class(a.int(0))) }
func removeErrorString(a *Args) error { return mpi.RemoveErrorString(mpi.Class(a.int(0))) }
