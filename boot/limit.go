package boot

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// MaxRanks is the most ranks that one Launch starts.
const MaxRanks = 4096

const (
	fdsPerRank = 4  // of the launcher: connection, pidfd, two output pipes
	fdsSpare   = 64 // for everything else in the launching process
)

// limits of this process, in ranks or what ranks need.
type limits struct {
	processes uint64 // RLIMIT_NPROC; not enforced for root (setrlimit(2))
	files     uint64 // RLIMIT_NOFILE
}

func readLimits() limits {
	l := limits{math.MaxUint64, math.MaxUint64}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && os.Geteuid() != 0 {
		l.processes = r.Cur
	}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil {
		l.files = r.Cur
	}
	return l
}

// check returns a *LimitError if n ranks are too few or too many. The limit on
// processes counts those that the user already has, so a launch that passes
// may still fail; that error comes from the kernel.
func (l limits) check(n int) error {
	switch {
	case n < 1:
		return &LimitError{n, 1, "a job has at least one rank"}
	case n > MaxRanks:
		return &LimitError{n, MaxRanks, "boot.MaxRanks"}
	case uint64(n) > l.processes:
		return &LimitError{n, l.processes, "RLIMIT_NPROC, see ulimit -u"}
	case uint64(n)*fdsPerRank+fdsSpare > l.files:
		return &LimitError{n, (max(l.files, fdsSpare) - fdsSpare) / fdsPerRank, "RLIMIT_NOFILE, see ulimit -n"}
	}
	return nil
}
