package greet

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// Token is a rank's secret. Only ranks of the job get to see it, so whoever knows
// it belongs to the job.
type Token [16]byte

// NewToken makes one that nobody guesses.
func NewToken() (t Token) {
	rand.Read(t[:])
	return t
}

// Key is a job's secret, the same on all of its ranks. The zero Key is none.
type Key [32]byte

// Self is what a rank says of itself.
type Self struct {
	Magic      [8]byte // the transport's
	Version    uint32  // of everything that ranks exchange through the transport
	Rank, Size uint32
	Job        string // the same on all ranks of the job, and no other's
	// Key is what ranks prove to know. Where it is zero they prove to know the
	// listener's token.
	Key Key
}

// Tag stands for a job in an opening. Where the job has a key, nobody else can tell the
// tag from the job's name.
type Tag [16]byte

// Tag returns the tag of the rank's job.
func (s *Self) Tag() Tag {
	m := hmac.New(sha256.New, s.Key[:])
	m.Write([]byte("tag of " + s.Job))
	return Tag(m.Sum(nil))
}

// An opening is the dialer's greeting:
//
//	0   8 bytes  magic
//	8   4        version
//	12  4        the dialer's rank
//	16  4        the size of its job
//	20  4        the listener's rank
//	24  16       tag of the job
//	40  16       nonce
//	56  16       cookie
//
// The cookie is a MAC of all before it, so a listener drops at once what is no
// rank's. It proves little, since it can be said again. The listener's greeting
// is the same without what names the listener, the tag and the cookie.
const (
	openingSize  = cookieAt + cookieSize
	cookieAt     = 8 + 4 + 4 + 4 + 4 + 16 + 16
	cookieSize   = 16
	greetingSize = 8 + 4 + 4 + 4 + 16
	proofSize    = ProofSize
)

// noVersion is the version in the greeting of a process that only looks after the
// socket of the rank that was called, and knows that there is no such rank.
const noVersion = 0

// ErrStranger means that another process than the one that was called replies, or
// calls: of no job, of another job, another rank, another build.
var ErrStranger = errors.New("it is not the rank that was called")

// strange returns an ErrStranger with a reason.
func strange(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrStranger}, args...)...)
}

// Opening is the first frame of a connection, whoever sent it.
type Opening struct {
	b   [openingSize]byte
	sum [sha256.Size]byte
}

// Read reads an opening.
func (o *Opening) Read(r io.Reader) error {
	_, err := io.ReadFull(r, o.b[:])
	return err
}

// Bytes is the opening as it was read.
func (o *Opening) Bytes() []byte { return o.b[:] }

// To is the job and the rank that the opening names. Nothing is proved.
func (o *Opening) To() (job Tag, rank uint32) {
	return Tag(o.b[24:]), binary.LittleEndian.Uint32(o.b[20:])
}

// from is who made the opening, of how many.
func (o *Opening) from() (rank, size uint32) {
	return binary.LittleEndian.Uint32(o.b[12:]), binary.LittleEndian.Uint32(o.b[16:])
}

// begin is what both greetings begin with.
func (s *Self) begin(b []byte) []byte {
	b = append(b, s.Magic[:]...)
	b = binary.LittleEndian.AppendUint32(b, s.Version)
	b = binary.LittleEndian.AppendUint32(b, s.Rank)
	return binary.LittleEndian.AppendUint32(b, s.Size)
}

func nonce() []byte {
	var n [16]byte
	rand.Read(n[:])
	return n[:]
}

// greeting is the listener's.
func (s *Self) greeting() []byte {
	return append(s.begin(make([]byte, 0, greetingSize+proofSize)), nonce()...)
}

// opening is the dialer's greeting.
func (s *Self) opening(peer uint32, token Token) []byte {
	b := s.begin(make([]byte, 0, openingSize))
	b = binary.LittleEndian.AppendUint32(b, peer)
	tag := s.Tag()
	b = append(append(b, tag[:]...), nonce()...)
	m := hmac.New(sha256.New, s.secret(&token))
	m.Write(b)
	return append(b, m.Sum(nil)[:cookieSize]...)
}

// secret is what the proofs are made with.
func (s *Self) secret(token *Token) []byte {
	if s.Key != (Key{}) {
		return s.Key[:]
	}
	return token[:]
}

// decode reads the listener's greeting.
func (s *Self) decode(b []byte) (rank, size uint32, err error) {
	le := binary.LittleEndian
	if len(b) < greetingSize || [8]byte(b) != s.Magic {
		return 0, 0, strange("not a greeting of this transport")
	}
	switch v := le.Uint32(b[8:]); v {
	case s.Version:
	case noVersion:
		return 0, 0, ErrAbsent
	default:
		return 0, 0, strange("protocol version %d meets version %d: run the same build of Weft on all ranks", v, s.Version)
	}
	return le.Uint32(b[12:]), le.Uint32(b[16:]), nil
}

// Gate judges openings for a listener whose token is given. It allocates nothing
// for one, and is safe for concurrent use.
type Gate struct {
	self *Self
	tag  Tag
	mu   sync.Mutex
	mac  hash.Hash // under the secret; guarded by mu
}

// NewGate returns a rank's Gate.
func (s *Self) NewGate(token Token) *Gate {
	return &Gate{self: s, tag: s.Tag(), mac: hmac.New(sha256.New, s.secret(&token))}
}

// Check returns nil if whoever made the opening knows the secret, and calls the
// job. Which rank it calls is To's to say.
func (g *Gate) Check(o *Opening) error {
	switch {
	case [8]byte(o.b[:]) != g.self.Magic:
		return errNoOpening
	case binary.LittleEndian.Uint32(o.b[8:]) != g.self.Version:
		return errOtherVersion
	case Tag(o.b[24:]) != g.tag:
		return errOtherJob
	}
	g.mu.Lock()
	g.mac.Reset()
	g.mac.Write(o.b[:cookieAt])
	sum := g.mac.Sum(o.sum[:0])
	g.mu.Unlock()
	if !hmac.Equal(sum[:cookieSize], o.b[cookieAt:]) {
		return errNoCookie
	}
	return nil
}

// Ours reports whether the opening is one of the transport. Nothing is proved.
func (g *Gate) Ours(o *Opening) bool { return [8]byte(o.b[:]) == g.self.Magic }

// What a Gate says is not allocated.
var (
	errNoOpening    = fmt.Errorf("%w: not a greeting of this transport", ErrStranger)
	errOtherVersion = fmt.Errorf("%w: it is another build of Weft", ErrStranger)
	errOtherJob     = fmt.Errorf("%w: the caller is of another job", ErrStranger)
	errNoCookie     = fmt.Errorf("%w: the caller is not of this job", ErrStranger)
)

// The words that keep the proofs of the two sides apart.
const (
	dialer   = "dialer"
	listener = "listener"
)

// proof shows that its maker knows the secret and is of the job.
func (s *Self) proof(token Token, role string, dialer, listener []byte) []byte {
	m := hmac.New(sha256.New, s.secret(&token))
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
