package wire

// The kinds of partitioned communication. Their imm names the receiver's side of
// a channel, or the sender's, except for PInit, whose imm is that of a message.
const (
	PInit   uint8 = kindPartitioned + 0 | Urgent // a send has been initialized; header PInitHeader
	PAccept uint8 = kindPartitioned + 1 | Urgent // the receive that matches it; header PAcceptHeader
	PGo     uint8 = kindPartitioned + 2 | Urgent // the receive has begun a round; header PBlocksHeader, no blocks
	PReady  uint8 = kindPartitioned + 3 | Urgent // blocks may be read from the sender's memory; header PBlocksHeader
	PData   uint8 = kindPartitioned + 4          // header PDataHeader; body: bytes of blocks
	PLanded uint8 = kindPartitioned + 5          // blocks have been written to the receiver's memory; header PBlocksHeader
	PDone   uint8 = kindPartitioned + 6          // what became of blocks after PReady; header PBlocksHeader
	PFree   uint8 = kindPartitioned + 7 | Urgent // a side has been given up; header PEndHeader
	PStop   uint8 = kindPartitioned + 8 | Urgent // a receive has been given up: write no more, and reply with PStill; header PEndHeader
	PStill  uint8 = kindPartitioned + 9 | Urgent // nothing is being written any more
)

// PartEnd is why a rank has given its side of a channel up.
type PartEnd uint8

const (
	PartFreed     PartEnd = iota // its request has been freed
	PartContext                  // the context of its communicator has ended
	PartUnmatched                // its communicator has been freed, and there was no receive for the send
	PartRevoked                  // its communicator has been revoked
	PartFailed                   // it has failed
	partEnds
)

// PEndHeader says why a side has been given up.
type PEndHeader []byte

const (
	pendOwn = 0
	pendWhy = 1
	// PEndSize is the length of a PEndHeader.
	PEndSize = 8
)

// MakePEnd fills b, which has at least PEndSize bytes. own says that imm names the
// sender's side, whose PInit has not been accepted.
func MakePEnd(b []byte, own bool, why PartEnd) PEndHeader {
	putBool(b[pendOwn:], own)
	b[pendWhy] = uint8(why)
	return PEndHeader(b[:PEndSize])
}

func (h PEndHeader) Valid() bool  { return len(h) == PEndSize && h.Why() < partEnds }
func (h PEndHeader) Own() bool    { return h[pendOwn] != 0 }
func (h PEndHeader) Why() PartEnd { return PartEnd(h[pendWhy]) }

// PInitHeader describes a partitioned send.
type PInitHeader []byte

const (
	pinitChannel = 0
	pinitBytes   = 8
	pinitParts   = 16
	pinitPer     = 20
	pinitAddr    = 24
	pinitKey     = 32
	pinitReads   = 40
	PInitSize    = 48
)

// PartSend is what a PInit says.
type PartSend struct {
	Channel   uint64 // the sender's name for it
	Bytes     uint64 // of the whole message
	Parts     uint32 // partitions
	Per       uint32 // partitions of a block
	Addr, Key uint64 // of the sender's memory
	Readable  bool   // it is registered for reading
}

// MakePInit fills b, which has at least PInitSize bytes.
func MakePInit(b []byte, s PartSend) PInitHeader {
	le.PutUint64(b[pinitChannel:], s.Channel)
	le.PutUint64(b[pinitBytes:], s.Bytes)
	le.PutUint32(b[pinitParts:], s.Parts)
	le.PutUint32(b[pinitPer:], s.Per)
	le.PutUint64(b[pinitAddr:], s.Addr)
	le.PutUint64(b[pinitKey:], s.Key)
	putBool(b[pinitReads:], s.Readable)
	return PInitHeader(b[:PInitSize])
}

// Valid also checks that there are partitions, of one size, in blocks, and not more
// blocks than bytes: the receiver keeps something of each.
func (h PInitHeader) Valid() bool {
	if len(h) != PInitSize {
		return false
	}
	s := h.Send()
	return s.Parts > 0 && s.Parts <= MaxParts && s.Per > 0 && s.Per <= s.Parts && (s.Bytes > 0 || s.Per == s.Parts) &&
		s.Bytes <= MaxLength && s.Bytes%uint64(s.Parts) == 0
}

// MaxParts is the most partitions of a message.
const MaxParts = 1 << 30

func (h PInitHeader) Send() PartSend {
	return PartSend{Channel: le.Uint64(h[pinitChannel:]), Bytes: le.Uint64(h[pinitBytes:]), Parts: le.Uint32(h[pinitParts:]),
		Per: le.Uint32(h[pinitPer:]), Addr: le.Uint64(h[pinitAddr:]), Key: le.Uint64(h[pinitKey:]), Readable: h[pinitReads] != 0}
}

// PAcceptHeader describes the receive that a PInit has matched.
type PAcceptHeader []byte

const (
	pacceptChannel = 0
	pacceptBytes   = 8
	pacceptParts   = 16
	pacceptVerdict = 20
	pacceptWhy     = 22
	pacceptAddr    = 24
	pacceptKey     = 32
	PAcceptSize    = 40
)

// Verdict says whether a partitioned send and its receive fit, and how.
type Verdict uint8

const (
	Fits      Verdict = iota
	Writable          // and the sender may write to the receiver's memory
	Differs           // they are of different lengths
	Forgone           // the receive has been given up
	Scattered         // the receive does not lie in one piece: send it everything in packets
	verdicts
)

// PartRecv is what a PAccept says.
type PartRecv struct {
	Channel   uint64 // the receiver's name for it
	Bytes     uint64 // that it receives
	Parts     uint32 // partitions
	Verdict   Verdict
	Why       PartEnd // of one that is Forgone
	Addr, Key uint64  // of the receiver's memory, if it is Writable
}

// MakePAccept fills b, which has at least PAcceptSize bytes.
func MakePAccept(b []byte, r PartRecv) PAcceptHeader {
	le.PutUint64(b[pacceptChannel:], r.Channel)
	le.PutUint64(b[pacceptBytes:], r.Bytes)
	le.PutUint32(b[pacceptParts:], r.Parts)
	le.PutUint16(b[pacceptVerdict:], uint16(r.Verdict))
	le.PutUint16(b[pacceptWhy:], uint16(r.Why))
	le.PutUint64(b[pacceptAddr:], r.Addr)
	le.PutUint64(b[pacceptKey:], r.Key)
	return PAcceptHeader(b[:PAcceptSize])
}

func (h PAcceptHeader) Valid() bool {
	return len(h) == PAcceptSize && le.Uint16(h[pacceptVerdict:]) < uint16(verdicts) && le.Uint16(h[pacceptWhy:]) < uint16(partEnds)
}

func (h PAcceptHeader) Recv() PartRecv {
	return PartRecv{Channel: le.Uint64(h[pacceptChannel:]), Bytes: le.Uint64(h[pacceptBytes:]), Parts: le.Uint32(h[pacceptParts:]),
		Verdict: Verdict(h[pacceptVerdict]), Why: PartEnd(h[pacceptWhy]), Addr: le.Uint64(h[pacceptAddr:]), Key: le.Uint64(h[pacceptKey:])}
}

// PBlocksHeader names blocks of a round, in PReady, PLanded and PDone, and the
// round alone in PGo.
type PBlocksHeader []byte

const (
	pblocksRound = 0
	pblocksFirst = 4
	pblocksCount = 8
	pblocksFate  = 12
	PBlocksSize  = 16
)

// Fate is what became of blocks that could be read, in a PDone.
type Fate uint8

const (
	Taken   Fate = iota // they have been read
	Refused             // they can't be read: send all as packets
	Failed              // reading them has failed
	fates
)

// MakePBlocks fills b, which has at least PBlocksSize bytes.
func MakePBlocks(b []byte, round, first, count uint32, fate Fate) PBlocksHeader {
	le.PutUint32(b[pblocksRound:], round)
	le.PutUint32(b[pblocksFirst:], first)
	le.PutUint32(b[pblocksCount:], count)
	le.PutUint32(b[pblocksFate:], uint32(fate))
	return PBlocksHeader(b[:PBlocksSize])
}

func (h PBlocksHeader) Valid() bool {
	return len(h) == PBlocksSize && le.Uint32(h[pblocksFate:]) < uint32(fates)
}
func (h PBlocksHeader) Round() uint32 { return le.Uint32(h[pblocksRound:]) }
func (h PBlocksHeader) Fate() Fate    { return Fate(h[pblocksFate]) }

// Blocks returns the first block and their number.
func (h PBlocksHeader) Blocks() (first, count uint32) {
	return le.Uint32(h[pblocksFirst:]), le.Uint32(h[pblocksCount:])
}

// PDataHeader is where the bytes of a PData belong.
type PDataHeader []byte

const (
	pdataOff   = 0
	pdataRound = 8
	PDataSize  = 16
)

// MakePData fills b, which has at least PDataSize bytes.
func MakePData(b []byte, offset uint64, round uint32) PDataHeader {
	le.PutUint64(b[pdataOff:], offset)
	le.PutUint64(b[pdataRound:], uint64(round))
	return PDataHeader(b[:PDataSize])
}

func (h PDataHeader) Valid() bool    { return len(h) == PDataSize }
func (h PDataHeader) Offset() uint64 { return le.Uint64(h[pdataOff:]) } // in the message, in bytes
func (h PDataHeader) Round() uint32  { return le.Uint32(h[pdataRound:]) }
