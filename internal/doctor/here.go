package doctor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Here is the machine that this process runs on, but for what takes other packages of
// Weft: Cores, Shared, Read, Interfaces, Devices, Launched and Settings are the
// caller's to set.
func Here(ranks int) *Machine {
	return &Machine{Root: os.DirFS("/"), Env: os.Environ(), Ranks: ranks, Limit: limit, Statfs: statfs}
}

var resources = map[string]int{"memlock": unix.RLIMIT_MEMLOCK, "nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC}

func limit(name string) (Limits, error) {
	var l unix.Rlimit
	resource, known := resources[name]
	if !known {
		return Limits{}, fmt.Errorf("no limit %q", name)
	}
	err := unix.Getrlimit(resource, &l)
	return Limits{l.Cur, l.Max}, err
}

func statfs(path string) (Space, error) {
	var s unix.Statfs_t
	err := unix.Statfs(path, &s)
	block := uint64(s.Bsize)
	return Space{s.Blocks * block, s.Bavail * block}, err
}
