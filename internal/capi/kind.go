package capi

// Kind is the kind of an object. The numbers are those of weft_kind in weft.h.
type Kind int32

const (
	kindNone Kind = iota
	kindComm
	kindGroup
	kindInfo
	kindSession
	kindWin
	kindMessage
	kindDatatype
	kindOp
	kindErrhandler
	kindFile
	kindRequest
	kinds
)

// Handles that stand for no object, and those that are there from the start (MPI-5.0 §20).
const (
	opNull       = 32
	commNull     = 256
	commWorld    = 257
	commSelf     = 258
	groupNull    = 264
	groupEmpty   = 265
	winNull      = 272
	sessionNull  = 288
	messageNull  = 296
	messageNone  = 297 // MPI_MESSAGE_NO_PROC
	infoNull     = 304
	infoEnv      = 305
	requestNull  = 384
	datatypeNull = 512
)

// Addresses that are none (MPI-5.0 §20).
const (
	bottom          = 0
	inPlace         = 1
	bufferAutomatic = 2
	unweighted      = 10
	weightsEmpty    = 11
)
