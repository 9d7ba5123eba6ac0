package peek

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// Version is that of the protocol. Ranks reply to a question of another version with an
// error that has theirs.
const Version = 1

// Limits of a question, a reply, and all replies to one question in bytes, of a job, and of
// the time for a question or a reply on its way.
const (
	maxQuestion = 4 << 10
	maxReply    = 32 << 20
	maxReplies  = 512 << 20
	maxRanks    = 1 << 20
	questionIn  = 5 * time.Second
	replyIn     = 10 * time.Second
)

// question is what a client asks.
type question struct {
	Version int    `json:"weft"`
	Ask     string `json:"ask"`
}

// About is what each reply says of the rank and its process.
type About struct {
	Job     string    `json:"job"`
	Rank    int       `json:"rank"`
	Size    int       `json:"size"`
	Local   []int     `json:"local"` // ranks of the job on this host
	Fabric  string    `json:"fabric"`
	Program string    `json:"program"`
	PID     int       `json:"pid"`
	Parent  int       `json:"parent"`
	Started time.Time `json:"started"` // when the rank joined the job
}

// Reply is a rank's reply.
type Reply struct {
	Version int `json:"weft"`
	About
	// Error says why there is no Body.
	Error string `json:"error,omitempty"`
	// Busy, unless 0, says that the answer has to wait: for so many seconds the owner of
	// the rank's loop has not done what others need of it.
	Busy float64         `json:"busy_seconds,omitempty"`
	Body json.RawMessage `json:"body,omitempty"`
}

// VersionError says that a rank has another version of the protocol.
type VersionError struct{ Theirs int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the rank speaks version %d of the protocol, and this is version %d: use the weft of the rank's build", e.Theirs, Version)
}

// UserError says that the process at the other end is another user's.
type UserError struct{ UID uint32 }

func (e *UserError) Error() string {
	return fmt.Sprintf("it belongs to user %d: a rank replies to its own user and to root", e.UID)
}

// errTooLong is the error of a line beyond its limit.
var errTooLong = errors.New("the line is too long")

// bounded is a connection that takes its share of room for several.
type bounded struct {
	io.Reader
	room *atomic.Int64
}

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.room.Add(-int64(n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// errTooMuch is the error of replies that are beyond their limit together.
var errTooMuch = fmt.Errorf("the replies of all ranks have more than %d MB", maxReplies>>20)

// readLine reads a line of at most most bytes.
func readLine(r io.Reader, most int) ([]byte, error) {
	in := bufio.NewReader(io.LimitReader(r, int64(most)+1))
	line, err := in.ReadBytes('\n')
	switch {
	case len(line) > most:
		return nil, errTooLong
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// mayAsk reports whether a process of a user may ask a rank of the user here.
func mayAsk(client uint32) bool { return client == 0 || client == uint32(os.Geteuid()) }

// mayTrust reports whether a rank of a user is one that a client of the user here asks:
// root asks all.
func mayTrust(server uint32) bool { return os.Geteuid() == 0 || server == uint32(os.Geteuid()) }
