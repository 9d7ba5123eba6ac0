package wire

// CompareHeader asks which collective call has a number at a rank, in the
// communicator of the packet's context.
type CompareHeader []byte

const (
	compareNumber = 0
	CompareSize   = 8
)

// MakeCompare fills b, which has at least CompareSize bytes.
func MakeCompare(b []byte, number uint32) CompareHeader {
	le.PutUint64(b[compareNumber:], uint64(number))
	return CompareHeader(b[:CompareSize])
}

func (h CompareHeader) Valid() bool {
	return len(h) == CompareSize && le.Uint64(h[compareNumber:])>>32 == 0
}
func (h CompareHeader) Number() uint32 { return le.Uint32(h[compareNumber:]) }

// ComparedHeader is the reply.
type ComparedHeader []byte

const (
	comparedWhat   = 0
	comparedNumber = 4
	comparedAlike  = 8
	ComparedSize   = 16
)

// Bounds of what and alike in a Compared.
const (
	comparedCalls = 32
	alikeLimit    = 1 << 56
)

// MakeCompared fills b, which has at least ComparedSize bytes. what is the operator in
// its lower 16 bits, the call in 8 bits above them, and above that 1 if it is nonblocking,
// or 4 if it is persistent, plus 2 if it is checked; alike is what the ranks give alike.
// Both are 0 if the rank has not made the call of this number, or has forgotten it.
func MakeCompared(b []byte, number, what uint32, alike uint64) ComparedHeader {
	le.PutUint32(b[comparedWhat:], what)
	le.PutUint32(b[comparedNumber:], number)
	le.PutUint64(b[comparedAlike:], alike)
	return ComparedHeader(b[:ComparedSize])
}

func (h ComparedHeader) Valid() bool {
	if len(h) != ComparedSize || h.Alike() >= alikeLimit {
		return false
	}
	what := h.What()
	if call := what >> 16 & 0xff; call == 0 {
		return what == 0 && h.Alike() == 0
	} else {
		return call < comparedCalls && what>>24 <= 6 && what>>24 != 5
	}
}
func (h ComparedHeader) What() uint32   { return le.Uint32(h[comparedWhat:]) }
func (h ComparedHeader) Number() uint32 { return le.Uint32(h[comparedNumber:]) }
func (h ComparedHeader) Alike() uint64  { return le.Uint64(h[comparedAlike:]) }
