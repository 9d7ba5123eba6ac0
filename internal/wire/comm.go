package wire

// The kinds of communicators.
const (
	Abort    uint8 = kindComm + 0 | Urgent // a collective call has failed; imm: the library's context; header AbortHeader, body: what the rank says of it
	Letter   uint8 = kindComm + 1 | Urgent // a piece of a letter; imm: its flags; header LetterHeader
	Compare  uint8 = kindComm + 2 | Urgent // asks which collective call has a number; imm: the library's context; header CompareHeader
	Compared uint8 = kindComm + 3 | Urgent // the reply; imm: the same; header ComparedHeader
	Ask      uint8 = kindComm + 6 | Urgent // asks a rank what it waits for; imm: MakeAsk
	Tell     uint8 = kindComm + 7 | Urgent // a piece of the reply; imm: MakeTell; body: a piece of its state
	Echo     uint8 = kindComm + 8 | Urgent // imm: EchoAsk and so on
	Clock    uint8 = kindComm + 9 | Urgent // imm: ClockAsk or ClockTell; header ClockHeader
)

// Asked is what an Ask wants.
type Asked uint8

const (
	AskReply   Asked = iota // a reply, which comes behind all that the rank has sent before
	AskState                // the rank's state too
	AskSettled              // its state after it has such replies of the ranks that it waits for
	asks
)

// Told are flags of a Tell.
type Told uint8

const (
	TellLast  Told = 1 << iota // the last piece
	Sending                    // the rank is sending to the asking one, which has not heard of the message
	Receiving                  // it is receiving a message of the asking one
	toldAll
)

// MakeAsk is the imm of an Ask. The number tells the sender's questions apart.
func MakeAsk(number uint64, a Asked) uint64 { return number<<8 | uint64(a) }

// ParseAsk takes the imm of an Ask apart.
func ParseAsk(imm uint64) (number uint64, a Asked, ok bool) {
	return imm >> 8, Asked(imm), Asked(imm) < asks
}

// MakeTell is the imm of a Tell: the question's number, and flags.
func MakeTell(number uint64, t Told) uint64 { return number<<8 | uint64(t) }

// ParseTell takes the imm of a Tell apart.
func ParseTell(imm uint64) (number uint64, t Told, ok bool) {
	return imm >> 8, Told(imm), Told(imm) < toldAll
}

// What an Echo says, its imm. It has no header and no body. A rank that gets a
// question or a rest replies when it has taken all that came before.
const (
	EchoAsk   = iota // a question
	EchoReply        // the reply
	EchoRest         // a question; the sender may exit from now on without closing its transports
	EchoBack         // it may not any more
	Echoes
)

// What a Clock says, its imm.
const (
	ClockAsk  = iota // a question
	ClockTell        // the reply, with the same number
	Clocks
)

// ClockHeader is a question for a rank's clock, and the reply. A question has no time.
type ClockHeader []byte

const (
	clockNumber = 0
	clockTime   = 8
	ClockSize   = 16
)

// MakeClock fills b, which has at least ClockSize bytes. number tells the sender's
// questions apart, and time is CLOCK_MONOTONIC in nanoseconds.
func MakeClock(b []byte, number uint64, time int64) ClockHeader {
	le.PutUint64(b[clockNumber:], number)
	le.PutUint64(b[clockTime:], uint64(time))
	return ClockHeader(b[:ClockSize])
}

// Valid reports whether the packet is a question or a reply.
func (h ClockHeader) Valid(says uint64) bool {
	return len(h) == ClockSize && (says == ClockAsk && h.Time() == 0 || says == ClockTell && h.Time() >= 0)
}
func (h ClockHeader) Number() uint64 { return le.Uint64(h[clockNumber:]) }
func (h ClockHeader) Time() int64    { return int64(le.Uint64(h[clockTime:])) }

// AbortHeader says which collective call has failed, at which rank, and why. Its sender may be
// another rank, which has been told.
type AbortHeader []byte

const (
	abortCode = 0
	abortCall = 4
	abortRank = 8
	AbortSize = 12
)

// MaxAbortText is the longest body of an Abort, in bytes.
const MaxAbortText = 1024

// MakeAbort fills b, which has at least AbortSize bytes. code is the class of the
// error, call the number of the call that has failed, and rank where it has, in the job.
func MakeAbort(b []byte, code int32, call, rank uint32) AbortHeader {
	le.PutUint32(b[abortCode:], uint32(code))
	le.PutUint32(b[abortCall:], call)
	le.PutUint32(b[abortRank:], rank)
	return AbortHeader(b[:AbortSize])
}

func (h AbortHeader) Valid() bool  { return len(h) == AbortSize && h.Code() >= 0 }
func (h AbortHeader) Code() int32  { return int32(le.Uint32(h[abortCode:])) }
func (h AbortHeader) Call() uint32 { return le.Uint32(h[abortCall:]) }
func (h AbortHeader) Rank() uint32 { return le.Uint32(h[abortRank:]) }

// Ranks that have no communicator to make another one with write letters. A
// LetterHeader is the key of those that belong together, a hash. Letters of one rank
// with one key come in their order.
type LetterHeader []byte

// LetterSize is the length of a LetterHeader in bytes.
const LetterSize = 32

// Flags of a Letter. Without one it is a piece of a letter that goes on.
const (
	LetterLast = 1 << iota // the last piece
	LetterOff              // no letter: the rank breaks off what the key is of; body LetterReason
	LetterVoid             // no letter: a rank of what the key is of has died, so nobody needs to ask for the sender's letters
)

// Valid reports whether the packet is a piece of a letter, or breaks off.
func (h LetterHeader) Valid(flags uint64, body []byte) bool {
	switch {
	case len(h) != LetterSize:
		return false
	case flags == LetterOff:
		return LetterReason(body).valid()
	case flags == LetterVoid:
		return len(body) == 0
	}
	return flags == LetterLast || flags == 0 && len(body) > 0
}

// LetterReason is why a rank breaks off: the class of its error, the context id that
// it had agreed to, or 0, and the error's text.
type LetterReason []byte

const (
	letterContext = 4
	letterText    = 8
)

// MakeLetterReason returns a reason with as much of the text as fits.
func MakeLetterReason(code int32, context uint32, text string) LetterReason {
	b := le.AppendUint32(le.AppendUint32(nil, uint32(code)), context)
	return append(b, text[:min(len(text), MaxAbortText-letterText)]...)
}

func (b LetterReason) valid() bool {
	return len(b) >= letterText && len(b) <= MaxAbortText && b.Code() >= 0 && !Library(b.Context())
}
func (b LetterReason) Code() int32     { return int32(le.Uint32(b)) }
func (b LetterReason) Context() uint32 { return le.Uint32(b[letterContext:]) }
func (b LetterReason) Text() string    { return string(b[letterText:]) }
