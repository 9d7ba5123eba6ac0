package launch

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxRanks is the most ranks that one Launch starts.
const MaxRanks = 4096

// checkRanks returns a *LimitError if n ranks are too few or too many, or, here, more
// processes than the user may have. The limit on processes does not bind root (setrlimit(2)). It counts the user's
// other processes too, so a launch that passes may still fail, with an error of
// the kernel.
func checkRanks(n int, here bool) error {
	processes := uint64(math.MaxUint64)
	var r unix.Rlimit
	if here && unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && os.Geteuid() != 0 {
		processes = r.Cur
	}
	switch {
	case n < 1:
		return &LimitError{n, 1, "a job has at least one rank"}
	case n > MaxRanks:
		return &LimitError{n, MaxRanks, "launch.MaxRanks"}
	case uint64(n) > processes:
		return &LimitError{n, processes, "RLIMIT_NPROC, see ulimit -u"}
	}
	return nil
}

// The descriptors that a launcher needs, besides those open before it starts
// the first rank. A rank needs descriptors of its own: about a dozen for
// itself, and three for each peer that it is connected to over shared memory
// (bell, arena and pidfd in fabric/shm).
const (
	fdsPerRank   = 2 // connection and pidfd
	fdsPerStream = 1 // the read end of an output pipe
	// While a rank is started: its end of the socket, and the pipe over which
	// the process that becomes the rank reports an error.
	fdsToStart       = 3
	fdsToStartStream = 1 // the write end of an output pipe
)

// files is the room for descriptors in this process.
type files struct {
	limit uint64 // RLIMIT_NOFILE: above every descriptor
	free  uint64 // unused descriptors below it
}

// filesFor is how many descriptors must be free to start n ranks, each with so
// many output streams, 0 to 2, that are copied.
func filesFor(n, streams int) uint64 {
	return uint64(n*(fdsPerRank+streams*fdsPerStream) + fdsToStart + streams*fdsToStartStream)
}

// check returns a *LimitError if n ranks can't be started.
func (f files) check(n, streams int) error {
	most := n
	for most > 0 && filesFor(most, streams) > f.free {
		most--
	}
	if most < n {
		return f.refuse(n, most)
	}
	return nil
}

func (f files) refuse(n, most int) error {
	return &LimitError{n, uint64(most), fmt.Sprintf("RLIMIT_NOFILE is %d, which leaves %d descriptors; see ulimit -Hn", f.limit, f.free)}
}

// checkFiles is check for this process. If the soft limit is too low, it raises
// that to the hard limit: a Go program begins with the hard limit less one, but
// may have lowered it since. Child processes then inherit the raised limit;
// otherwise they get the soft limit that this process was started with
// (syscall.Setrlimit). Ranks in Go raise theirs in either case.
func checkFiles(n, streams int) error {
	err := readFiles().check(n, streams)
	var r unix.Rlimit
	if err == nil || unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil || r.Max-r.Cur <= 1 {
		return err
	}
	r.Cur = r.Max
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return err
	}
	return readFiles().check(n, streams)
}

func readFiles() files {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		r.Cur = math.MaxUint64
	}
	f := files{r.Cur, r.Cur}
	names, _ := os.ReadDir("/proc/self/fd")
	for _, name := range names {
		if fd, err := strconv.ParseUint(name.Name(), 10, 64); err == nil && fd < f.limit {
			f.free--
		}
	}
	if len(names) > 0 {
		f.free++ // the directory's own
	}
	return f
}

// tooManyFiles returns a *LimitError in place of EMFILE from the start of rank,
// of n, and any other error as it is.
func tooManyFiles(err error, n, rank int) error {
	if !errors.Is(err, syscall.EMFILE) {
		return err
	}
	return readFiles().refuse(n, rank)
}
