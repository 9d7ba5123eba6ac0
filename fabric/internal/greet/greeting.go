package greet

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Token is a rank's secret. Only ranks of the job get to see it, so whoever knows
// it belongs to the job.
type Token [16]byte

// NewToken makes one that nobody guesses.
func NewToken() (t Token) {
	rand.Read(t[:])
	return t
}

// Self is what a rank says of itself. It is a plain value.
type Self struct {
	Magic      [8]byte // the transport's
	Version    uint32  // of everything that ranks exchange through the transport
	Rank, Size uint32
	Job        string // the same on all ranks of the job, and no other's
}

const (
	greetingSize = 8 + 4 + 4 + 4 + 16
	proofSize    = sha256.Size
)

// greeting is a Self as it is sent: whoever reads it checks magic and version.
func (s *Self) greeting() []byte {
	b := append(make([]byte, 0, greetingSize+proofSize), s.Magic[:]...)
	b = binary.LittleEndian.AppendUint32(b, s.Version)
	b = binary.LittleEndian.AppendUint32(b, s.Rank)
	b = binary.LittleEndian.AppendUint32(b, s.Size)
	var nonce [16]byte
	rand.Read(nonce[:])
	return append(b, nonce[:]...)
}

// decode reads the greeting of a peer.
func (s *Self) decode(b []byte) (rank, size uint32, err error) {
	le := binary.LittleEndian
	if len(b) != greetingSize || [8]byte(b) != s.Magic {
		return 0, 0, errors.New("not a greeting of this transport")
	}
	if v := le.Uint32(b[8:]); v != s.Version {
		return 0, 0, fmt.Errorf("protocol version %d meets version %d: run the same build of Weft on all ranks", v, s.Version)
	}
	return le.Uint32(b[12:]), le.Uint32(b[16:]), nil
}

// The words that keep the proofs of the two sides apart.
const (
	dialer   = "dialer"
	listener = "listener"
)

// proof shows that its maker knows the listener's token and is of the job.
func (s *Self) proof(token Token, role string, dialer, listener []byte) []byte {
	m := hmac.New(sha256.New, token[:])
	for _, part := range [][]byte{[]byte(role), []byte(s.Job), dialer, listener} {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(part)))
		m.Write(n[:])
		m.Write(part)
	}
	return m.Sum(nil)
}

// readN reads exactly n bytes.
func readN(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}
