package greet

import (
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxPayload is how long an offer or an answer is at most, in bytes.
const MaxPayload = 4096

// maxReason bounds the text of a refusal, in bytes.
const maxReason = 512

// Verdicts of the listener.
const (
	verdictWelcome = iota + 1
	verdictCrossed
	verdictRefused
)

const byteReady = 'r'

// ErrCrossed means that the listener dials, too, and that its connection is to be
// used. The listener's consider says so.
var ErrCrossed = errors.New("the peer dials, too")

// ErrAbsent means that the process that replies looks after the socket of the rank
// that was called, and that there is no such rank.
var ErrAbsent = errors.New("no process of the host is that rank")

// Absent tells a dialer so.
func (s *Self) Absent(conn io.Writer) error {
	b := append([]byte(nil), s.Magic[:]...)
	_, err := conn.Write(append(b, make([]byte, greetingSize+proofSize-len(b))...)) // noVersion
	return err
}

// A RefusedError is why a peer that has proved to be the one refuses.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the peer refuses: " + e.Reason }

// Dial is the dialer's side. The peer is a rank, and token is its own. offer is
// called once the peer has proved that it is of the job, and says what to tell it.
//
// The answer is what the peer tells. Then the dialer says Ready, or closes the
// connection. ErrCrossed is told by errors.Is; any other error ends the attempt.
func (s *Self) Dial(conn io.ReadWriter, peer uint32, token Token, offer func() ([]byte, error)) (answer []byte, err error) {
	me := s.opening(peer, token)
	if _, err := conn.Write(me); err != nil {
		return nil, err
	}
	b, err := readN(conn, greetingSize+proofSize)
	if err != nil {
		return nil, fmt.Errorf("the peer answers no greeting: %w", err)
	}
	you := b[:greetingSize]
	rank, size, err := s.decode(you)
	switch {
	case err != nil:
		return nil, err
	case !hmac.Equal(b[greetingSize:], s.proof(token, listener, me, you)):
		return nil, strange("who answers is not of this job")
	case rank != peer || size != s.Size:
		return nil, strange("rank %d of %d answers there", rank, size)
	}
	mine, err := offer()
	if err != nil {
		return nil, err
	}
	b, err = appendPayload(s.proof(token, dialer, me, you), mine)
	if err == nil {
		_, err = conn.Write(b)
	}
	if err != nil {
		return nil, err
	}
	return readVerdict(conn)
}

// Ready tells the listener that its answer was taken.
func Ready(conn io.Writer) error {
	_, err := conn.Write([]byte{byteReady})
	return err
}

// Answer is the listener's side, whose own token is given. consider is called once
// the peer has proved that it is of the job, and that its rank is another one of
// it. It says what to answer to the offer, or why the peer is refused, which is
// told to the peer; ErrCrossed is one such reason.
//
// Answer returns when the peer is ready. Its error is consider's, or the connection
// has failed: before consider was called, or behind it.
func (s *Self) Answer(conn io.ReadWriter, token Token, consider func(rank uint32, offer []byte) ([]byte, error)) error {
	var o Opening
	if err := o.Read(conn); err != nil {
		return err
	}
	if err := s.NewGate(token).Check(&o); err != nil {
		return err
	}
	return s.AnswerTo(&o, conn, token, consider)
}

// AnswerTo is Answer for an opening that has been read, and that a Gate takes.
func (s *Self) AnswerTo(o *Opening, conn io.ReadWriter, token Token, consider func(rank uint32, offer []byte) ([]byte, error)) error {
	you := o.b[:]
	rank, size := o.from()
	if _, to := o.To(); to != s.Rank {
		return strange("rank %d calls rank %d", rank, to)
	}
	me := s.greeting()
	if _, err := conn.Write(append(me, s.proof(token, listener, you, me)...)); err != nil {
		return err
	}
	theirs, err := readN(conn, proofSize)
	if err != nil {
		return err
	}
	if !hmac.Equal(theirs, s.proof(token, dialer, you, me)) {
		return strange("the caller is not of this job")
	}
	// From here on the caller is one of us. Its offer is read in any case, so that
	// what it is told is not lost with a reset of the connection.
	offer, err := readPayload(conn)
	if err != nil {
		return err
	}
	if size != s.Size || rank >= s.Size || rank == s.Rank {
		err = fmt.Errorf("rank %d of %d calls rank %d of %d", rank, size, s.Rank, s.Size)
	}
	var answer []byte
	if err == nil {
		answer, err = consider(rank, offer)
	}
	if err != nil {
		conn.Write(encodeRefusal(err))
		return err
	}
	b, err := appendPayload([]byte{verdictWelcome}, answer)
	if err == nil {
		_, err = conn.Write(b)
	}
	if err == nil {
		b, err = readN(conn, 1)
	}
	if err == nil && b[0] != byteReady {
		err = fmt.Errorf("%q where it should be ready", b)
	}
	return err
}

func readVerdict(r io.Reader) (answer []byte, err error) {
	b, err := readN(r, 1)
	if err != nil {
		return nil, fmt.Errorf("the peer gives no answer: %w", err)
	}
	switch b[0] {
	case verdictWelcome:
		return readPayload(r)
	case verdictCrossed:
		return nil, ErrCrossed
	case verdictRefused:
		reason, err := readReason(r)
		if err != nil {
			return nil, err
		}
		return nil, &RefusedError{Reason: reason}
	}
	return nil, fmt.Errorf("verdict %d, which does not exist", b[0])
}

// A payload and a reason have their length in front, of 2 bytes.

func appendPayload(b, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("%d bytes to tell the peer, the most is %d", len(payload), MaxPayload)
	}
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(payload))), payload...), nil
}

func readPayload(r io.Reader) ([]byte, error) { return readCounted(r, MaxPayload) }

func encodeRefusal(err error) []byte {
	if errors.Is(err, ErrCrossed) {
		return []byte{verdictCrossed}
	}
	reason := err.Error()
	reason = reason[:min(len(reason), maxReason)]
	b := binary.LittleEndian.AppendUint16([]byte{verdictRefused}, uint16(len(reason)))
	return append(b, reason...)
}

func readReason(r io.Reader) (string, error) {
	b, err := readCounted(r, maxReason)
	return string(b), err
}

func readCounted(r io.Reader, most int) ([]byte, error) {
	b, err := readN(r, 2)
	if err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > most {
		return nil, fmt.Errorf("the peer tells %d bytes, the most is %d", n, most)
	}
	return readN(r, n)
}
