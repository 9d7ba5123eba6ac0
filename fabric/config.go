package fabric

import (
	"fmt"
	"log/slog"
)

// Config is what a transport needs to know of the job. Its slices and maps are
// the caller's: a transport may keep them and does not change them.
type Config struct {
	Rank Peer
	Size int
	Job  string // the same on all ranks of the job, and no other's
	// Key is the job's secret, the same on all ranks. With it ranks prove to one
	// another that they belong to the job. The zero Key is none.
	Key Key
	// Hosts has the host of each rank; hosts are numbered by their lowest ranks,
	// from 0. Ranks of one host may still be unable to share memory. nil: all
	// ranks are on one host.
	Hosts []uint32
	// Options are the user's settings by the names in Provider.Options,
	// "WEFT_SHM_GET_MIN" for instance. A missing or empty one is not set.
	Options map[string]string
	Log     *slog.Logger // never nil

	// Unattended means that the rank does not poll while the application
	// computes: accepted operations must leave without a further call.
	Unattended bool
}

// Key is a secret of 256 bits. It prints as "redacted".
type Key [32]byte

// Format implements fmt.Formatter: no verb prints the key.
func (Key) Format(s fmt.State, _ rune) { s.Write([]byte("redacted")) }

// MarshalText implements encoding.TextMarshaler, so that logs stay clean too.
func (Key) MarshalText() ([]byte, error) { return []byte("redacted"), nil }
