package mpi

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/strangers"
)

// With WithTypeChecks a message begins with its signature: how many bytes are behind it and
// a mark, then the number of its basic elements and their hash (datatype.Sig), then, for words,
// the kinds of the first ones and the line of the program that sends them. The receiver
// compares before it writes anything to the program's memory.

const (
	signature = 192 // bytes, of them
	kindsAt   = 24
	lineAt    = 32
	// The first word has the mark above a length that any memory's fits into.
	signMarkAt = 48
	signMark   = uint64(0x5f73) << signMarkAt
)

// SignatureError is in the error of a receive whose message has other elements than the
// receive's datatype, of class ErrType, see WithTypeChecks. Sent and Wanted are what the
// message has and what the receive takes, in words, such as "3 x int32, float64". Sender and
// Receiver are the function and line of the program that made the call of either side, "" if
// that is not known; of a line that is long only the end. Sent is "" if the message has no
// signature, because its sender does not check types.
//
// It is also in those of collective calls and of operations on a window, whose name Call is.
// Rank is then the other side: of a collective call the rank that sends, in the remote group
// of an intercommunicator, and of one on a window the target. That has no lines.
type SignatureError struct {
	Sent, Sender, Wanted, Receiver string
	Call                           string // "" of a message
	Rank                           int

	from, to string // the sides; "" of a message
}

func (e *SignatureError) Error() string {
	sender, receiver := inBrackets(e.Sender), inBrackets(e.Receiver)
	from, to := cmp.Or(e.from, "the message"), cmp.Or(e.to, "the receive")
	switch e.Sent {
	case "":
		return fmt.Sprintf("the message has no signature: check types at all ranks, or at none (WEFT_CHECK=types, WithTypeChecks); the receive takes %s%s", e.Wanted, receiver)
	case e.Wanted:
		return fmt.Sprintf("%s has %s%s, and so has %s%s, but they differ further on: give both sides the same sequence of basic elements", from, e.Sent, sender, to, receiver)
	}
	return fmt.Sprintf("%s has %s%s, %s takes %s%s: give both sides the same sequence of basic elements", from, e.Sent, sender, to, e.Wanted, receiver)
}

func inBrackets(line string) string {
	if line == "" {
		return ""
	}
	return " (" + line + ")"
}

// signed is the memory of a Buf whose message has a signature.
type signed struct {
	at  datatype.Cursor
	t   *datatype.Type // nil: no elements
	n   int
	own record

	got record // of the message that arrives
	bad error  // why it is not received
}

// unusedSigned has those that the engine has freed.
var unusedSigned = sync.Pool{New: func() any { return new(signed) }}

// signed is the memory of a checked Buf.
func (b *Buf) signed() pt2pt.Data {
	s := unusedSigned.Get().(*signed)
	if b.t != nil {
		s.t, s.n = b.t.t, b.n
		_ = s.at.Reset(s.t, s.n, b.mem, b.origin) // checked: it would have no bytes
	}
	binary.LittleEndian.PutUint64(s.own[:], signMark|uint64(s.at.Size()))
	s.own.sign(s.t, s.n, lineOfProgram())
	return pt2pt.Data{Layout: s, Size: signature + uint64(s.at.Size())}
}

func (s *signed) Pack(dst []byte, at uint64) {
	if at < signature {
		n := copy(dst, s.own[at:])
		dst, at = dst[n:], at+uint64(n)
	}
	if len(dst) > 0 {
		s.at.Seek(int(at - signature))
		s.at.Pack(dst)
	}
}

func (s *signed) Unpack(src []byte, at uint64) {
	if at == 0 {
		s.got, s.bad = record{}, nil
	}
	if at < signature {
		n := copy(s.got[at:], src)
		if src, at = src[n:], at+uint64(n); at == signature {
			s.bad = s.judge()
		}
	}
	if len(src) > 0 && s.bad == nil {
		s.at.Seek(int(at - signature))
		s.at.Unpack(src)
	}
}

// Verdict makes signed a pt2pt.Headed.
func (s *signed) Verdict(n uint64) error {
	if length, marked := s.sent(); !marked || length+signature != n {
		return s.unsigned()
	}
	return s.bad
}

// sent is how long the message is that arrives, and whether it has a signature.
func (s *signed) sent() (length uint64, marked bool) {
	first := binary.LittleEndian.Uint64(s.got[:])
	length = first & (1<<signMarkAt - 1)
	return length, first == signMark|length
}

// judge compares the signature of a message with the receive's. Of one that is longer than
// the receive the beginning is received, which says nothing of its signature.
func (s *signed) judge() error {
	length, marked := s.sent()
	switch sent := s.got.sig(); {
	case !marked:
		return s.unsigned()
	case length > uint64(s.at.Size()), sent.Matches(s.t.SigPrefix(s.n, sent.Elements)):
		return nil
	}
	return &SignatureError{Sent: s.got.words(), Sender: s.got.line(), Wanted: s.own.words(), Receiver: s.own.line()}
}

// unsigned is the error of a message without a signature.
func (s *signed) unsigned() error {
	return &SignatureError{Wanted: s.own.words(), Receiver: s.own.line()}
}

// record is a signature with its words.
type record [signature]byte

// sign makes r that of n elements of t, which a line of the program sends or takes. The
// first word stays.
func (r *record) sign(t *datatype.Type, n int, line string) {
	sig := t.Sig(n)
	binary.LittleEndian.PutUint64(r[8:], sig.Elements)
	binary.LittleEndian.PutUint64(r[16:], sig.Hash)
	firstKinds(r[kindsAt:kindsAt:lineAt], t, n)
	copy(r[lineAt:], line[max(0, len(line)-(signature-lineAt)):])
}

func (r *record) sig() datatype.Sig {
	return datatype.Sig{Elements: binary.LittleEndian.Uint64(r[8:]), Hash: binary.LittleEndian.Uint64(r[16:])}
}

// line is the line of the program in a signature.
func (r *record) line() string {
	text, _, _ := strings.Cut(string(r[lineAt:]), "\x00")
	return strangers.Line(text)
}

// words are the elements of a signature in words.
func (r *record) words() string {
	all := r.sig().Elements
	if all == 0 {
		return "no elements"
	}
	kinds := r[kindsAt:lineAt]
	known := len(kinds)
	if all < uint64(known) {
		kinds, known = kinds[:all], int(all)
	}
	var parts []string
	for len(kinds) > 0 {
		n := 1
		for n < len(kinds) && kinds[n] == kinds[0] {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d x %v", n, datatype.Kind(kinds[0])))
		kinds = kinds[n:]
	}
	list := strings.Join(parts, ", ")
	if all > uint64(known) {
		return fmt.Sprintf("%d elements that begin with %s", all, list)
	}
	return list
}

// firstKinds appends the kinds of the first basic elements of n elements of t, as many as
// fit into b.
func firstKinds(b []byte, t *datatype.Type, n int) {
	if t == nil {
		return
	}
	add := func(k datatype.Kind) {
		if len(b) < cap(b) {
			b = append(b, byte(k))
		}
	}
	size, _ := t.PackSize(n) // checked
	for e := range t.Elements(n, 0, size) {
		for range min(e.N, cap(b)-len(b)) {
			if first, second, _, pair := e.Kind.Pair(); pair {
				add(first)
				add(second)
			} else {
				add(e.Kind)
			}
		}
		if len(b) == cap(b) {
			return
		}
	}
}

// Free also lets go of the memory.
func (s *signed) Free() {
	*s = signed{}
	unusedSigned.Put(s)
}
