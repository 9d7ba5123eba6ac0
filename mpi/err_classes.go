package mpi

import (
	"errors"
	"sync"
)

// Further error classes of MPI-4.0, with the values of MPI-5's ABI. Most are of
// calls that this package does not have.
const (
	ErrTopology      Class = 11 // MPI_ERR_TOPOLOGY: invalid topology
	ErrDims          Class = 12 // MPI_ERR_DIMS: invalid dimensions
	ErrUnknown       Class = 14 // MPI_ERR_UNKNOWN: an error that nobody knows
	ErrIntern        Class = 17 // MPI_ERR_INTERN: an error of the library
	ErrAccess        Class = 20 // MPI_ERR_ACCESS: a file may not be accessed
	ErrAmode         Class = 21 // MPI_ERR_AMODE: invalid mode for opening a file
	ErrAssert        Class = 22 // MPI_ERR_ASSERT: invalid assertion
	ErrBadFile       Class = 23 // MPI_ERR_BAD_FILE: invalid file name
	ErrConversion    Class = 25 // MPI_ERR_CONVERSION: a conversion of data has failed
	ErrDisp          Class = 26 // MPI_ERR_DISP: invalid displacement
	ErrDupDatarep    Class = 27 // MPI_ERR_DUP_DATAREP: a data representation that is defined already
	ErrFileExists    Class = 28 // MPI_ERR_FILE_EXISTS: the file exists
	ErrFileInUse     Class = 29 // MPI_ERR_FILE_IN_USE: the file is open
	ErrFile          Class = 30 // MPI_ERR_FILE: invalid file handle
	ErrInfoKey       Class = 31 // MPI_ERR_INFO_KEY: a key that is empty, or longer than MaxInfoKey
	ErrInfoNokey     Class = 32 // MPI_ERR_INFO_NOKEY: the info object does not have the key
	ErrInfoValue     Class = 33 // MPI_ERR_INFO_VALUE: a value longer than MaxInfoValue, or one that the key does not take
	ErrInfo          Class = 34 // MPI_ERR_INFO: invalid info object
	ErrIO            Class = 35 // MPI_ERR_IO: an error of input or output
	ErrKeyval        Class = 36 // MPI_ERR_KEYVAL: invalid attribute key
	ErrLocktype      Class = 37 // MPI_ERR_LOCKTYPE: invalid kind of lock
	ErrName          Class = 38 // MPI_ERR_NAME: a service that is not published
	ErrNotSame       Class = 40 // MPI_ERR_NOT_SAME: ranks give different arguments
	ErrNoSpace       Class = 41 // MPI_ERR_NO_SPACE: no room for a file
	ErrNoSuchFile    Class = 42 // MPI_ERR_NO_SUCH_FILE: no such file
	ErrPort          Class = 43 // MPI_ERR_PORT: invalid port
	ErrQuota         Class = 44 // MPI_ERR_QUOTA: a file quota is exceeded
	ErrReadOnly      Class = 45 // MPI_ERR_READ_ONLY: the file can't be written to
	ErrRMAAttach     Class = 46 // MPI_ERR_RMA_ATTACH: memory can't be attached to a window
	ErrRMAConflict   Class = 47 // MPI_ERR_RMA_CONFLICT: conflicting accesses to a window
	ErrRMARange      Class = 48 // MPI_ERR_RMA_RANGE: target memory that is not of the window
	ErrRMAShared     Class = 49 // MPI_ERR_RMA_SHARED: memory that ranks can't share
	ErrRMASync       Class = 50 // MPI_ERR_RMA_SYNC: wrong synchronisation of a window
	ErrService       Class = 51 // MPI_ERR_SERVICE: a service can't be unpublished
	ErrSize          Class = 52 // MPI_ERR_SIZE: invalid size
	ErrSpawn         Class = 53 // MPI_ERR_SPAWN: processes can't be started
	ErrUnsupDatarep  Class = 54 // MPI_ERR_UNSUPPORTED_DATAREP: an unknown data representation
	ErrWin           Class = 56 // MPI_ERR_WIN: invalid window
	ErrRMAFlavor     Class = 57 // MPI_ERR_RMA_FLAVOR: a window of the wrong kind
	ErrProcAborted   Class = 58 // MPI_ERR_PROC_ABORTED: a rank has called Abort
	ErrValueTooLarge Class = 59 // MPI_ERR_VALUE_TOO_LARGE: a value that does not fit its variable
	ErrSession       Class = 60 // MPI_ERR_SESSION: invalid session
	ErrErrhandler    Class = 61 // MPI_ERR_ERRHANDLER of MPI-4.1: invalid error handler
	firstFree              = ErrProcFailedPending + 1
	MaxErrorString         = 511 // longest text of AddErrorString in bytes (MPI_MAX_ERROR_STRING, without C's final zero)
	maxClasses       Class = 1<<31 - 1
)

var furtherNames = map[Class]string{
	ErrTopology: "invalid topology", ErrDims: "invalid dimensions",
	ErrUnknown: "unknown error", ErrIntern: "internal error", ErrAccess: "file access denied", ErrAmode: "invalid mode of opening",
	ErrAssert: "invalid assertion", ErrBadFile: "invalid file name", ErrConversion: "conversion failed", ErrDisp: "invalid displacement",
	ErrDupDatarep: "data representation defined twice", ErrFileExists: "file exists", ErrFileInUse: "file in use",
	ErrFile: "invalid file", ErrInfoKey: "invalid info key", ErrInfoNokey: "no such info key", ErrInfoValue: "invalid info value",
	ErrInfo: "invalid info object", ErrIO: "input or output failed", ErrKeyval: "invalid attribute key", ErrLocktype: "invalid kind of lock",
	ErrName: "service not published", ErrNotSame: "arguments differ between ranks", ErrNoSpace: "no space for the file",
	ErrNoSuchFile: "no such file", ErrPort: "invalid port", ErrQuota: "quota exceeded", ErrReadOnly: "file is read-only",
	ErrRMAAttach: "memory not attached", ErrRMAConflict: "conflicting window accesses", ErrRMARange: "outside of the window",
	ErrRMAShared: "memory not shared", ErrRMASync: "wrong window synchronisation", ErrService: "service not unpublished",
	ErrSize: "invalid size", ErrSpawn: "processes not started", ErrUnsupDatarep: "data representation unsupported", ErrWin: "invalid window",
	ErrRMAFlavor: "wrong kind of window", ErrProcAborted: "process aborted", ErrValueTooLarge: "value too large",
	ErrSession: "invalid session", ErrErrhandler: "invalid error handler",
}

// added is a class or a code of the program's.
type added struct {
	class Class // of a code; its own number for a class
	text  string
	codes int // of a class: how many codes it has
}

// program has the classes and codes of the program, which are the process's. No
// number is given twice.
var program = struct {
	mu   sync.RWMutex
	last Class
	of   map[Class]*added
}{last: firstFree - 1, of: map[Class]*added{}}

// next takes the next number for a class or code. The caller has the lock.
func next(a *added) (Class, bool) {
	if program.last >= maxClasses {
		return 0, false
	}
	program.last++
	program.of[program.last] = a
	return program.last, true
}

var errNoNumber = errors.New("every number of an error class has been used")

// AddErrorClass makes a class for errors of the program, or of a library above MPI
// (MPI_Add_error_class, MPI-4.0 §9.5). Its number differs from those of all other
// classes and codes of the process, and may differ between processes. It fails with
// ErrOther when all numbers have been used. Local.
func AddErrorClass() (class Class, err error) {
	defer func() { err = raiseSelf(err) }() // not under the lock
	program.mu.Lock()
	defer program.mu.Unlock()
	a := &added{}
	c, ok := next(a)
	if !ok {
		return 0, &Error{Class: ErrOther, Call: "AddErrorClass", Err: errNoNumber}
	}
	a.class = c
	return c, nil
}

// AddErrorCode makes an error code of a class (MPI_Add_error_code, MPI-4.0 §9.5):
// a Class that errors.Is takes for its own and for the given one. It fails with ErrArg
// for a class that there is not, and with ErrOther as AddErrorClass. Local.
func AddErrorCode(class Class) (code Class, err error) {
	defer func() { err = raiseSelf(err) }() // not under the lock
	const call = "AddErrorCode"
	program.mu.Lock()
	defer program.mu.Unlock()
	of := program.of[class]
	if of != nil && of.class != class || of == nil && predefined(class) == "" {
		return 0, badArg(call, ErrArg, "%d is no error class: give one of MPI's or of AddErrorClass", int(class))
	}
	code, ok := next(&added{class: class})
	if !ok {
		return 0, &Error{Class: ErrOther, Call: call, Err: errNoNumber}
	}
	if of != nil {
		of.codes++
	}
	return code, nil
}

// AddErrorString sets the text of a class or code that the program has added, at
// most MaxErrorString bytes (MPI_Add_error_string, MPI-4.0 §9.5). It replaces an
// earlier one. It fails with ErrArg for a text that is too long and a code that has not
// been added. Local.
func AddErrorString(code Class, text string) (err error) {
	defer func() { err = raiseSelf(err) }() // not under the lock
	const call = "AddErrorString"
	if len(text) > MaxErrorString {
		return badArg(call, ErrArg, "a text of %d bytes: at most %d", len(text), MaxErrorString)
	}
	program.mu.Lock()
	defer program.mu.Unlock()
	a := program.of[code]
	if a == nil {
		return notAdded(call, code)
	}
	a.text = text
	return nil
}

func notAdded(call string, code Class) error {
	return badArg(call, ErrArg, "%d has not been added by AddErrorClass or AddErrorCode, or has been removed", int(code))
}

// RemoveErrorClass removes a class of AddErrorClass whose codes have been removed,
// with its text (MPI_Remove_error_class, MPI-4.1 §9.5). It fails with ErrArg for
// another class, or one with codes. Local.
func RemoveErrorClass(class Class) (err error) {
	defer func() { err = raiseSelf(err) }() // not under the lock
	const call = "RemoveErrorClass"
	program.mu.Lock()
	defer program.mu.Unlock()
	switch a := program.of[class]; {
	case a == nil:
		return notAdded(call, class)
	case a.class != class:
		return badArg(call, ErrArg, "%d is a code, which RemoveErrorCode removes", int(class))
	case a.codes > 0:
		return badArg(call, ErrArg, "the class %d has %d codes: remove them first", int(class), a.codes)
	}
	delete(program.of, class)
	return nil
}

// RemoveErrorCode removes a code of AddErrorCode, with its text
// (MPI_Remove_error_code, MPI-4.1 §9.5). It fails with ErrArg for another code. Local.
func RemoveErrorCode(code Class) (err error) {
	defer func() { err = raiseSelf(err) }() // not under the lock
	const call = "RemoveErrorCode"
	program.mu.Lock()
	defer program.mu.Unlock()
	a := program.of[code]
	switch {
	case a == nil:
		return notAdded(call, code)
	case a.class == code:
		return badArg(call, ErrArg, "%d is a class, which RemoveErrorClass removes", int(code))
	}
	if of := program.of[a.class]; of != nil {
		of.codes--
	}
	delete(program.of, code)
	return nil
}

// RemoveErrorString removes the text of AddErrorString (MPI_Remove_error_string,
// MPI-4.1 §9.5). It fails with ErrArg for a code that has not been added. Local.
func RemoveErrorString(code Class) error {
	const call = "RemoveErrorString"
	program.mu.Lock()
	defer program.mu.Unlock()
	a := program.of[code]
	if a == nil {
		return notAdded(call, code)
	}
	a.text = ""
	return nil
}

// ErrorClass is the class of an error: of a code, the class that it was added to;
// of an error of this package, its Class; 0 of nil, which is MPI_SUCCESS; of any
// other error ErrOther (MPI_Error_class, MPI-4.0 §9.4). Local.
func ErrorClass(err error) Class {
	if err == nil {
		return 0
	}
	class, ok := errors.AsType[Class](err)
	if mine, is := errors.AsType[*Error](err); is {
		class, ok = mine.Class, true
	}
	if !ok {
		return classOf(err)
	}
	program.mu.RLock()
	defer program.mu.RUnlock()
	if a := program.of[class]; a != nil {
		return a.class
	}
	return class
}

// ErrorString is the text of an error, "" for nil (MPI_Error_string, MPI-4.0
// §9.3.5). It is the error's Error. Local.
func ErrorString(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// LastUsedCode is the largest number that a class or code of this process has had
// so far; it never shrinks (MPI_LASTUSEDCODE, MPI-4.0 §9.5). Local.
func LastUsedCode() int {
	program.mu.RLock()
	defer program.mu.RUnlock()
	return int(program.last)
}

// Is reports whether target is the class that the code was added to.
func (c Class) Is(target error) bool {
	class, ok := target.(Class)
	return ok && c >= firstFree && ErrorClass(c) == class
}

// predefined is the text of a class that the program has not added, or "".
func predefined(c Class) string {
	if name := classNames[c]; name != "" {
		return name
	}
	return furtherNames[c]
}

// textOf is the text of a class or code that the program has added, or "".
func textOf(c Class) string {
	program.mu.RLock()
	defer program.mu.RUnlock()
	if a := program.of[c]; a != nil {
		return a.text
	}
	return ""
}
