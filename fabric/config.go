package fabric

import (
	"fmt"
	"log/slog"
)

// Config is what a transport needs to know of the job. Its slices and maps are
// the caller's: a transport does not change them, and may keep them.
type Config struct {
	Rank Peer
	Size int
	Job  string // the same on all ranks of the job, and no other's
	// Key is the job's secret, the same on all ranks, with which they prove to one
	// another that they are of the job. The zero Key is none.
	Key Key
	// Hosts has the host of each rank, numbered from 0 by their lowest ranks. It
	// says who could share memory, not who can. nil: all ranks are on one host.
	Hosts []uint32
	// Options are the user's settings by their names, which Provider.Options
	// lists: "WEFT_SHM_GET_MIN". One that is missing or empty is not set.
	Options map[string]string
	Log     *slog.Logger // never nil

	// Unattended says that nobody polls while the application computes: what
	// was accepted leaves without a further call.
	Unattended bool
}

// Key is a secret of 256 bits. It prints as "redacted".
type Key [32]byte

// Format implements fmt.Formatter: no verb prints the key.
func (Key) Format(s fmt.State, _ rune) { s.Write([]byte("redacted")) }

// MarshalText implements encoding.TextMarshaler, so that logs stay clean too.
func (Key) MarshalText() ([]byte, error) { return []byte("redacted"), nil }
