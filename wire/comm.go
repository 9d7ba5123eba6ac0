package wire

// The kinds of communicators. Their imm names the library's context of one.
const (
	Abort uint8 = kindComm + 0 | Urgent // a collective call has failed; header AbortHeader, body: what the rank says of it
)

// AbortHeader says which collective call has failed, and why. Its sender is the
// rank where it has.
type AbortHeader []byte

const (
	abortCode = 0
	abortCall = 4
	AbortSize = 8
)

// MaxAbortText is the longest body of an Abort, in bytes.
const MaxAbortText = 1024

// MakeAbort fills b, which has at least AbortSize bytes. code is the class of the
// error, and call the number of the call that has failed.
func MakeAbort(b []byte, code int32, call uint32) AbortHeader {
	le.PutUint32(b[abortCode:], uint32(code))
	le.PutUint32(b[abortCall:], call)
	return AbortHeader(b[:AbortSize])
}

func (h AbortHeader) Valid() bool  { return len(h) == AbortSize && h.Code() >= 0 }
func (h AbortHeader) Code() int32  { return int32(le.Uint32(h[abortCode:])) }
func (h AbortHeader) Call() uint32 { return le.Uint32(h[abortCall:]) }
