package tcp

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric"
)

// A frame is what ranks exchange once they have greeted. It has a header of 16
// bytes, up to maxMore bytes more, and a body. Integers are little-endian.
//
//	0   4 bytes  length of the body
//	4   1        form
//	5   1        kind of a message; status of a Done
//	6   1        length of the rest of the header
//	7   1        0
//	8   8        immediate of a message; the name of an operation
const (
	headerSize = 16
	maxMore    = fabric.MaxHeader
	maxHead    = headerSize + maxMore
)

// form is the kind of a frame.
type form uint8

const (
	formMessage form = iota + 1 // the rest of the header and the body are the engine's
	formGet                     // the peer's memory, 24 bytes, and how much of it in 8
	formData                    // of a Get: 8 bytes of offset, and a piece
	formPut                     // the peer's memory, 24 bytes, the offset in 8, whether it is the last in 1, and a piece
	formAtomic                  // the peer's memory, operand and compare, 40 bytes, and the kind in 1
	formDone                    // of a Put, an Atomic: its old value in 8 bytes; of a refused Get: how much of it was sent, in 8 bytes or 0 without
	formPing
	formPong
	formBye // the rank leaves in order; nothing follows
	formEnd // the rank has given this peer up; nothing follows
	forms
)

// status is the outcome of an operation at the peer.
type status uint8

const (
	statusOK status = iota
	statusBadRemote
	statuses
)

// header is the beginning of a frame.
type header struct {
	body uint32
	form form
	kind uint8
	more uint8
	imm  uint64
}

func (h header) put(b []byte) {
	binary.LittleEndian.PutUint32(b, h.body)
	b[4], b[5], b[6], b[7] = byte(h.form), h.kind, h.more, 0
	binary.LittleEndian.PutUint64(b[8:], h.imm)
}

// readHeader reads the header at the beginning of b, which has headerSize bytes at
// least. It returns false for one that no rank sends.
func readHeader(b []byte) (h header, ok bool) {
	h = header{
		body: binary.LittleEndian.Uint32(b), form: form(b[4]), kind: b[5], more: b[6],
		imm: binary.LittleEndian.Uint64(b[8:]),
	}
	return h, h.valid() && b[7] == 0
}

// moreOf is the length of the rest of the header by form. That of messages and of
// Done varies.
var moreOf = [forms]uint8{formGet: 32, formData: 8, formPut: 33, formAtomic: 41}

func (h header) valid() bool {
	switch h.form {
	case formMessage:
		return h.more <= fabric.MaxHeader && h.body <= maxEager
	case formData, formPut:
		return h.more == moreOf[h.form] && h.body <= pieceSize
	case formDone:
		return (h.more == 0 || h.more == 8) && h.body == 0 && status(h.kind) < statuses
	case formGet, formAtomic, formPing, formPong, formBye, formEnd:
		return h.more == moreOf[h.form] && h.body == 0
	}
	return false
}

func putRemote(b []byte, r fabric.Remote) {
	binary.LittleEndian.PutUint64(b, r.Addr)
	binary.LittleEndian.PutUint64(b[8:], r.Len)
	binary.LittleEndian.PutUint64(b[16:], r.Key)
}

func readRemote(b []byte) fabric.Remote {
	le := binary.LittleEndian
	return fabric.Remote{Addr: le.Uint64(b), Len: le.Uint64(b[8:]), Key: le.Uint64(b[16:])}
}
