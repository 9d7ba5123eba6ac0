package wire

// The kinds by which ranks go on without those that have died.
const (
	Revoke uint8 = kindComm + 4 | Urgent // the communicator is revoked; imm: its context
	Agree  uint8 = kindComm + 5 | Urgent // a message of an agreement; imm: the communicator's context; header AgreeHeader, body AgreeSets
)

// AgreeHeader is a message of one of a communicator's agreements.
type AgreeHeader []byte

const (
	agreeNumber = 0
	agreeSays   = 4
	agreeRound  = 5
	agreeFlags  = 8
	AgreeSize   = 16
)

// Bounds of what an AgreeHeader has.
const (
	AgreeSayings = 6  // package ulfm has the meanings
	AgreeRounds  = 32 // of a turn
)

// MakeAgree fills b, which has at least AgreeSize bytes. number counts the agreements of
// the communicator.
func MakeAgree(b []byte, number uint32, says, round uint8, flags uint64) AgreeHeader {
	le.PutUint32(b[agreeNumber:], number)
	le.PutUint32(b[agreeSays:], uint32(says)|uint32(round)<<8)
	le.PutUint64(b[agreeFlags:], flags)
	return AgreeHeader(b[:AgreeSize])
}

// Valid reports whether the packet is such a message.
func (h AgreeHeader) Valid(body []byte) bool {
	return len(h) == AgreeSize && h.Says() < AgreeSayings && h.Round() < AgreeRounds &&
		le.Uint16(h[agreeRound+1:]) == 0 && AgreeSets(body).valid()
}
func (h AgreeHeader) Number() uint32 { return le.Uint32(h[agreeNumber:]) }
func (h AgreeHeader) Says() uint8    { return h[agreeSays] }
func (h AgreeHeader) Round() uint8   { return h[agreeRound] }
func (h AgreeHeader) Flags() uint64  { return le.Uint64(h[agreeFlags:]) }

// AgreeSets are the ranks that have failed, and those of them that were acknowledged: two
// sets of so many words of 8 bytes, the second one a part of the first. Both may be empty.
type AgreeSets []byte

// AppendWord appends a word of a set.
func (b AgreeSets) AppendWord(w uint64) AgreeSets { return le.AppendUint64(b, w) }

func (b AgreeSets) valid() bool {
	if len(b)%16 != 0 {
		return false
	}
	for i := range b.Words() {
		if b.Acked(i)&^b.Failed(i) != 0 {
			return false
		}
	}
	return true
}

// Words is how many words each set has.
func (b AgreeSets) Words() int          { return len(b) / 16 }
func (b AgreeSets) Failed(i int) uint64 { return le.Uint64(b[8*i:]) }
func (b AgreeSets) Acked(i int) uint64  { return le.Uint64(b[8*(b.Words()+i):]) }
