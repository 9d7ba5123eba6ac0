package doctor

import (
	"fmt"
	"strings"
)

// Memory of a job on one machine, in bytes: what docs/running.md says of a pair of
// ranks that communicate, and about what a small Go program takes.
const (
	perDirection = 548 << 10
	perRank      = 24 << 20
)

// memoryLimit compares the memory that the control group may use with what the
// library takes. Shared memory counts for the group that has touched it first.
func (m *Machine) memoryLimit() Finding {
	limit := m.bound("memory", "memory.limit_in_bytes", "memory.max")
	if limit == Unlimited {
		return ok("no limit by a control group")
	}
	n := uint64(m.Ranks)
	need := n*perRank + min(n*(n-1), 32*31)*perDirection
	seen := fmt.Sprintf("a control group permits %s; %s that all communicate take up to %s besides the program's own", size(limit), number(m.Ranks, "rank"), size(need))
	if need > limit/2 {
		return warn(seen, "raise the limit (memory.max; --memory of a container; --mem of Slurm) or start fewer ranks: the kernel kills a rank beyond it")
	}
	return ok(seen)
}

// sharedMemory tries what shared memory between ranks needs.
func (m *Machine) sharedMemory() Finding {
	err := m.Shared()
	if err == nil {
		return ok("memfd, eventfd and pidfd can be used")
	}
	if m.word("proc/sys/vm/memfd_noexec") == "2" {
		return bad(err.Error(), "sysctl vm.memfd_noexec=1: with 2 the kernel refuses memory that is not sealed against execution")
	}
	remedy := "see the error; until then use tcp (WEFT_FABRIC=tcp)"
	return bad(err.Error(), remedy)
}

// devShm tells of /dev/shm, which other MPIs need.
func (m *Machine) devShm() Finding {
	const unused = "Weft keeps nothing there (its memory is of memfds), C MPIs do"
	for line := range strings.Lines(m.word("proc/self/mounts") + "\n") {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != "/dev/shm" {
			continue
		}
		seen := f[2] + " (" + f[3] + ")"
		if s, err := m.Statfs("/dev/shm"); err == nil {
			seen += fmt.Sprintf(", %s free of %s", size(s.Free), size(s.All))
		}
		return ok(seen + "; " + unused)
	}
	return ok("not mounted; " + unused)
}

// hugePages tells whether large buffers can be of huge pages.
func (m *Machine) hugePages() Finding {
	const dir = "sys/kernel/mm/transparent_hugepage/"
	heap, shared := chosen(m.word(dir+"enabled")), chosen(m.word(dir+"shmem_enabled"))
	if heap == "" {
		return ok("this kernel has no transparent huge pages")
	}
	seen := "transparent huge pages: " + heap + " for the heap"
	if shared != "" {
		seen += ", " + shared + " for shared memory, of which mpi.Alloc is"
	}
	if heap == "never" {
		return warn(seen+": copies of large buffers miss the TLB more often", "echo madvise > /"+dir+"enabled")
	}
	return ok(seen)
}

// chosen is the word in brackets of a list such as "always [madvise] never".
func chosen(words string) string {
	_, rest, _ := strings.Cut(words, "[")
	word, _, is := strings.Cut(rest, "]")
	if !is {
		return ""
	}
	return word
}
