package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// Descriptors: two of the launcher for each rank and two for its output. A rank has
// about a dozen, three for each peer over shared memory, and one or two for each over
// a network.
const (
	ofLauncher = 4
	ofRank     = 16
	ofPeer     = 3
)

const limitRemedy = "allow getrlimit, which a seccomp profile may refuse"

// descriptors compares the limit on open files with what the launcher and a rank need.
// A Go program raises its soft limit to the hard one.
func (m *Machine) descriptors() Finding {
	l, err := m.Limit("nofile")
	if err != nil {
		return warn("the limit on open files is not known: "+err.Error(), limitRemedy)
	}
	n := uint64(m.Ranks)
	need := max(n*ofLauncher, n*ofPeer) + ofRank
	seen := fmt.Sprintf("RLIMIT_NOFILE is %s (hard; Go raises the soft limit to it), %s need up to %d in a process", count(l.Hard), number(m.Ranks, "rank"), need)
	if l.Hard < need {
		return bad(seen, "raise the hard limit: * hard nofile 1048576 in a file of /etc/security/limits.d, LimitNOFILE of a systemd unit, --ulimit nofile of a container")
	}
	return ok(seen)
}

// threads is about how many a Go rank has, with those that sleep in the kernel.
const threads = 12

// processes compares the limits on processes and threads with those of the ranks.
func (m *Machine) processes() Finding {
	l, err := m.Limit("nproc")
	if err != nil {
		return warn("the limit on processes is not known: "+err.Error(), limitRemedy)
	}
	group := m.bound("pids", "pids.max", "pids.max")
	need := uint64(m.Ranks) * threads
	seen := fmt.Sprintf("RLIMIT_NPROC is %s, the control group permits %s; %s have about %d threads", count(l.Soft), count(group), number(m.Ranks, "rank"), need)
	if min(l.Soft, group) < need {
		return warn(seen, "raise the limit: ulimit -u, pids.max, --pids-limit of a container")
	}
	return ok(seen)
}

// Locked memory that a rank needs over verbs, in bytes, and what is enough for its
// buffers too (docs/infiniband.md).
const (
	lockQueues = 12 << 20
	lockEnough = 2 << 30
)

const lockRemedy = "ulimit -l unlimited; * hard memlock unlimited in a file of /etc/security/limits.d; LimitMEMLOCK=infinity of a systemd unit; --ulimit memlock=-1 of a container (docs/infiniband.md)"

// lockedMemory compares the limit on locked memory with what RDMA devices need.
func (m *Machine) lockedMemory() Finding {
	l, err := m.Limit("memlock")
	if err != nil {
		return warn("the limit on locked memory is not known: "+err.Error(), limitRemedy)
	}
	seen := "RLIMIT_MEMLOCK is " + size(l.Soft)
	if l.Hard != l.Soft {
		seen += fmt.Sprintf(" (hard %s)", size(l.Hard))
	}
	devices, err := m.Devices()
	switch {
	case m.may(capIPCLock):
		return ok(seen + ", and this process may pass it (CAP_IPC_LOCK)")
	case err == nil && len(devices) == 0:
		return ok(seen + "; only RDMA devices need more, and there is none")
	case l.Soft < lockQueues:
		return bad(fmt.Sprintf("%s, and a rank's queues take up to %s", seen, size(lockQueues)), lockRemedy)
	case l.Soft < lockEnough:
		return warn(seen+", which large messages may exhaust: they then go in packets", lockRemedy)
	}
	return ok(seen)
}

// capIPCLock is CAP_IPC_LOCK (linux/capability.h).
const capIPCLock = 14

// may reports whether this process has a capability.
func (m *Machine) may(capability int) bool {
	set, err := strconv.ParseUint(m.status("CapEff"), 16, 64)
	return err == nil && set>>capability&1 == 1
}

// status is a field of /proc/self/status.
func (m *Machine) status(field string) string {
	for line := range strings.Lines(m.word("proc/self/status") + "\n") {
		if v, is := strings.CutPrefix(line, field+":"); is {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
