package wire

// The kinds of locks of windows. Their imm is the window's id.
const (
	RLock     uint8 = kindRMA + 9 | Urgent  // a request for a lock of the receiver's; header RLockHeader
	RPress    uint8 = kindRMA + 10 | Urgent // the request is of a rank that holds a lock; header RLockHeader
	RUnlock   uint8 = kindRMA + 11 | Urgent // the release; header RLockHeader
	RGranted  uint8 = kindRMA + 12 | Urgent // the request is granted; header RLockHeader
	RDeclined uint8 = kindRMA + 13 | Urgent // it never will be; header RLockHeader, whose rank is the dead one's
)

// RGoneRank is the rank of an RDeclined if the window has been freed where the lock is.
const RGoneRank = ^uint32(0)

// RLockHeader names a lock and what is asked of it.
type RLockHeader []byte

const (
	rlockGlobal  = 0
	rlockClaim   = 1
	rlockHolding = 2
	rlockRank    = 4
	RLockSize    = 8
)

// MakeRLock fills b, which has at least RLockSize bytes. The lock is that of all ranks, or
// of the part; claim is what is asked for; holding says that the origin holds another
// lock.
func MakeRLock(b []byte, global bool, claim uint8, holding bool, rank uint32) RLockHeader {
	le.PutUint64(b, 0)
	if global {
		b[rlockGlobal] = 1
	}
	if holding {
		b[rlockHolding] = 1
	}
	b[rlockClaim] = claim
	le.PutUint32(b[rlockRank:], rank)
	return RLockHeader(b[:RLockSize])
}

func (h RLockHeader) Valid() bool {
	return len(h) == RLockSize && h[rlockGlobal] < 2 && h[rlockHolding] < 2
}
func (h RLockHeader) Global() bool  { return h[rlockGlobal] != 0 }
func (h RLockHeader) Claim() uint8  { return h[rlockClaim] }
func (h RLockHeader) Holding() bool { return h[rlockHolding] != 0 }
func (h RLockHeader) Rank() uint32  { return le.Uint32(h[rlockRank:]) }
