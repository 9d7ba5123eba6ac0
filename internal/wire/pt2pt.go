package wire

// Kinds of point-to-point packets.
const (
	Eager      uint8 = kindPt2pt               // imm: context and tag; body: the message
	EagerFirst uint8 = kindPt2pt + 1           // imm: context and tag; header First; body: the beginning
	EagerMore  uint8 = kindPt2pt + 2           // body: the next piece of the sender's last EagerFirst
	EagerSync  uint8 = kindPt2pt + 3 | Urgent  // imm: context and tag; header NumberHeader, the sender's request; body: the message, FIN once it is received
	EagerReady uint8 = kindPt2pt + 4           // as Eager, of a ready send
	RTS        uint8 = kindPt2pt + 5 | Urgent  // imm: context and tag; header RTSHeader
	CTS        uint8 = kindPt2pt + 6 | Urgent  // imm: the sender's request; header CTSHeader
	Data       uint8 = kindPt2pt + 7           // imm: the receiver's request; header NumberHeader, the offset in the message; body: a fragment
	FIN        uint8 = kindPt2pt + 8           // imm: the sender's request; header FINHeader
	Cancel     uint8 = kindPt2pt + 9 | Urgent  // imm: the sender's request, which it wants back
	Cancelled  uint8 = kindPt2pt + 10 | Urgent // imm: the sender's request; header FlagHeader: it has it, or a receive has taken the message
	Flow       uint8 = kindPt2pt + 11 | Urgent // imm: the Level that the receiver accepts from now on
	Grant      uint8 = kindPt2pt + 14 | Urgent // imm: the sender's request; header GrantHeader
	Written    uint8 = kindPt2pt + 15          // imm: the receiver's request; header FINHeader: Received or Lost
	Dead       uint8 = kindPt2pt + 16 | Urgent // imm: a rank that the sender has seen die
)

// Level is what a rank accepts of a peer's messages without a receive.
type Level uint8

const (
	Open     Level = iota // any
	Announce              // an RTS for each
	Hold                  // none
	Levels
)

// First is the header of an EagerFirst packet.
type First []byte

const (
	firstLen   = 0
	firstReady = 8
	FirstSize  = 16
)

// MakeFirst fills b, which has at least FirstSize bytes.
func MakeFirst(b []byte, length uint64, ready bool) First {
	le.PutUint64(b[firstLen:], length)
	putBool(b[firstReady:], ready)
	return First(b[:FirstSize])
}

func (h First) Valid() bool    { return len(h) == FirstSize }
func (h First) Length() uint64 { return le.Uint64(h[firstLen:]) } // of the whole message, bytes
func (h First) Ready() bool    { return h[firstReady] != 0 }      // of a ready send

// RTSHeader is a request to send: where the message lies and how long it is.
type RTSHeader []byte

const (
	rtsAddr = 0
	rtsLen  = 8
	rtsKey  = 16
	rtsReq  = 24
	rtsWhat = 32
	RTSSize = 40
)

// MakeRTS fills b, which has at least RTSSize bytes.
func MakeRTS(b []byte, addr, length, key, req uint64, what Announced) RTSHeader {
	le.PutUint64(b[rtsAddr:], addr)
	le.PutUint64(b[rtsLen:], length)
	le.PutUint64(b[rtsKey:], key)
	le.PutUint64(b[rtsReq:], req)
	le.PutUint64(b[rtsWhat:], uint64(what))
	return RTSHeader(b[:RTSSize])
}

// Announced are flags of an announced message.
type Announced uint8

const (
	Ready      Announced = 1 << iota // of a ready send
	Unreadable                       // the fabric can't read it: send a CTS for fragments
	announcedAll
)

// MaxLength bounds the length of a message, so that it fits any count.
const MaxLength = 1 << 62

func (h RTSHeader) Valid() bool {
	return len(h) == RTSSize && h.Length() <= MaxLength && h.What() < announcedAll
}
func (h RTSHeader) Addr() uint64    { return le.Uint64(h[rtsAddr:]) }
func (h RTSHeader) Length() uint64  { return le.Uint64(h[rtsLen:]) } // bytes
func (h RTSHeader) Key() uint64     { return le.Uint64(h[rtsKey:]) }
func (h RTSHeader) Request() uint64 { return le.Uint64(h[rtsReq:]) } // the sender's, for CTS and FIN
func (h RTSHeader) What() Announced { return Announced(h[rtsWhat]) }

// CTSHeader asks for fragments: the receiver's request and how many bytes of
// the message it has room for.
type CTSHeader []byte

const (
	ctsReq   = 0
	ctsLimit = 8
	ctsLate  = 16
	CTSSize  = 24
)

// MakeCTS fills b, which has at least CTSSize bytes.
func MakeCTS(b []byte, req, limit uint64, late bool) CTSHeader {
	le.PutUint64(b[ctsReq:], req)
	le.PutUint64(b[ctsLimit:], limit)
	putBool(b[ctsLate:], late)
	return CTSHeader(b[:CTSSize])
}

func (h CTSHeader) Valid() bool     { return len(h) == CTSSize }
func (h CTSHeader) Request() uint64 { return le.Uint64(h[ctsReq:]) }
func (h CTSHeader) Limit() uint64   { return le.Uint64(h[ctsLimit:]) }
func (h CTSHeader) Late() bool      { return h[ctsLate] != 0 } // the send was ready and its receive was not

// GrantHeader lets the sender write: where, how many bytes of the message there
// is room for, and the receiver's request.
type GrantHeader []byte

const (
	grantAddr  = 0
	grantLimit = 8
	grantKey   = 16
	grantReq   = 24
	grantLate  = 32
	GrantSize  = 40
)

// MakeGrant fills b, which has at least GrantSize bytes.
func MakeGrant(b []byte, addr, limit, key, req uint64, late bool) GrantHeader {
	le.PutUint64(b[grantAddr:], addr)
	le.PutUint64(b[grantLimit:], limit)
	le.PutUint64(b[grantKey:], key)
	le.PutUint64(b[grantReq:], req)
	putBool(b[grantLate:], late)
	return GrantHeader(b[:GrantSize])
}

func (h GrantHeader) Valid() bool     { return len(h) == GrantSize }
func (h GrantHeader) Addr() uint64    { return le.Uint64(h[grantAddr:]) }
func (h GrantHeader) Limit() uint64   { return le.Uint64(h[grantLimit:]) }
func (h GrantHeader) Key() uint64     { return le.Uint64(h[grantKey:]) }
func (h GrantHeader) Request() uint64 { return le.Uint64(h[grantReq:]) }
func (h GrantHeader) Late() bool      { return h[grantLate] != 0 } // the send was ready and its receive was not

// FINHeader completes a rendezvous or a synchronous send: the sender may use its
// buffer again. In a Written packet it completes a receive.
type FINHeader []byte

// Outcome is what became of the message, in a FIN.
type Outcome uint8

const (
	Received Outcome = iota
	Lost             // the receiver could not fetch the message
	Late             // received, but the send was ready and its receive was not
	Freed            // dropped: the receiver has freed the communicator
	Outcomes
)

const (
	finOutcome = 0
	FINSize    = 8
)

// MakeFIN fills b, which has at least FINSize bytes.
func MakeFIN(b []byte, o Outcome) FINHeader {
	le.PutUint64(b[finOutcome:], uint64(o))
	return FINHeader(b[:FINSize])
}

func (h FINHeader) Valid() bool      { return len(h) == FINSize && h[finOutcome] < byte(Outcomes) }
func (h FINHeader) Outcome() Outcome { return Outcome(h[finOutcome]) }
