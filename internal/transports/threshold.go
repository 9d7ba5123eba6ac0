package transports

import (
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/launch"
)

// From some length on a message between processes of a machine is read from its
// sender's memory, and then a Send waits for its receive. So all ranks of a host
// use the same length: that of the host's first rank, which is on its card.

// measurer is a Provider that can measure this length on its machine, in bytes.
type measurer interface {
	// GetMin returns the length that the user has set, or 0. The error explains
	// an invalid setting.
	GetMin(options map[string]string) (int, error)
	// Weigh measures it, in some milliseconds, once in a process. If that fails
	// the length is a default, and the error says why.
	Weigh() (int, error)
}

// adopter is a Domain that takes the length, in bytes, from the host's first
// rank. A length set by its own user stays.
type adopter interface{ SetGetMin(n int) }

// thresholdOfHost is the length for this rank's card: 0 unless it is the first of
// several ranks of its host and has a transport that needs the length.
func thresholdOfHost(j *launch.Job, opened []open, log *slog.Logger) (int, error) {
	if j.LocalRanks[0] != j.Rank || len(j.LocalRanks) < 2 {
		return 0, nil
	}
	for _, o := range opened {
		if m, ok := o.provider.(measurer); ok {
			return threshold(m, options(o.provider), log)
		}
	}
	return 0, nil
}

// threshold is the length that the user has set, or a measured one.
func threshold(m measurer, options map[string]string, log *slog.Logger) (int, error) {
	n, err := m.GetMin(options)
	if err != nil || n > 0 {
		return n, err
	}
	if n, err = m.Weigh(); err != nil {
		log.Debug("it was not measured from which length on messages are read; a default is taken", "err", err)
	}
	return n, nil
}

// adoptThreshold adopts the length of the host's first rank, 0 if there is none.
func adoptThreshold(n int, opened []open) {
	for _, o := range opened {
		if d, ok := o.domain.(adopter); ok && n > 0 {
			d.SetGetMin(n)
		}
	}
}

// Threshold is the length in bytes from which messages between processes of this
// machine are read from their sender's memory.
type Threshold struct {
	Bytes    int
	Set      bool  // by the user
	Measured bool  // else it is a default, and Err says why
	Err      error // of the measurement
}

// SharedThreshold returns the length that a job on this machine would use, which it
// may have to measure, in some milliseconds at the first call. If shared memory can't
// be used nothing is measured, and the error says why. Local.
func SharedThreshold() (Threshold, error) { return transports.sharedThreshold() }

func (t table) sharedThreshold() (found Threshold, err error) {
	for _, tr := range t {
		p := tr.provider(1)
		m, ok := p.(measurer)
		if !ok {
			continue
		}
		if err := available(p); err != nil {
			return found, err
		}
		if found.Bytes, err = m.GetMin(options(p)); err != nil || found.Bytes > 0 {
			found.Set = err == nil
			return found, err
		}
		found.Bytes, found.Err = m.Weigh()
		found.Measured = found.Err == nil
		return found, nil
	}
	return found, fabric.ErrUnsupported
}
