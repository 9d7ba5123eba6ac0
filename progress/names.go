package progress

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// A fabric names operations by their Op, and writes by their note. An Op is a
// request's (Request.Op), or a sink's own:
//
//	bit  63     a sink's own
//	     58-62  which Ops
//	     0-57   its tag
//
// A note has a sink's class in its upper four bits. Class 0 is unused, since the
// note 0 is none.
const (
	opNamed  = 1 << 63
	opBits   = 58
	maxOps   = 1 << 5
	noteBits = 28

	// MaxTag and MaxNote are the largest tag of an operation and the largest note.
	MaxTag  = 1<<opBits - 1
	MaxNote = 1<<noteBits - 1
)

// Ops names fabric operations that belong to no request.
type Ops struct{ base fabric.Op }

// NameOps makes names for operations; done is called with each completion, as
// the owner. It is called before Go. The 33rd call fails.
func (l *Loop) NameOps(done func(tag uint64, err error)) (Ops, error) {
	if len(l.ops) == maxOps {
		return Ops{}, fmt.Errorf("there are names of operations for %d protocols already", maxOps)
	}
	l.ops = append(l.ops, done)
	return Ops{opNamed | fabric.Op(len(l.ops)-1)<<opBits}, nil
}

// Op is the name of the operation with a tag of at most MaxTag.
func (o Ops) Op(tag uint64) fabric.Op { return o.base | fabric.Op(tag&MaxTag) }

// HandleNotes registers take for the notes of a class from 1 to 15; it is called
// as the owner. HandleNotes is called before Go. It fails for another class, and
// for one that is registered already. A note of an unregistered class breaks the
// protocol and ends its sender.
func (l *Loop) HandleNotes(class uint8, take func(from fabric.Peer, note uint32)) error {
	switch {
	case class == 0 || int(class) >= len(l.notes):
		return fmt.Errorf("there is no class %d of notes: choose one from 1 to %d", class, len(l.notes)-1)
	case l.notes[class] != nil:
		return fmt.Errorf("the notes of class %d are taken by another protocol", class)
	}
	l.notes[class] = take
	return nil
}

// Note is the note of a class as a Put sends it; note is at most MaxNote.
func Note(class uint8, note uint32) uint32 { return uint32(class)<<noteBits | note&MaxNote }
