package doctor

import (
	"errors"
	"fmt"
	"syscall"
)

// Reads says how reading another process's memory (CMA, process_vm_readv) has gone.
// Ranks are siblings. To the kernel a process that reads its parent is like one that
// reads a sibling; reading a child may be permitted where both of these are not
// (yama's ptrace_scope 1).
type Reads struct {
	Child  error // of this process reading its child
	Parent error // of the child reading this process
}

// reads tells whether a rank can read another's memory.
func (m *Machine) reads() Finding {
	r, err := m.Read()
	switch {
	case err != nil:
		return warn("not tried: "+err.Error(), "run it where /proc is mounted and a process may start another")
	case r.Child == nil && r.Parent == nil:
		return ok("a process has read its child's memory, and the child its parent's")
	}
	seen := "long messages between processes go in packets instead, more slowly: "
	switch {
	case r.Child == nil:
		seen += fmt.Sprintf("a child can't read its parent (%v)", r.Parent)
	case r.Parent == nil:
		seen += fmt.Sprintf("a process can't read its child (%v)", r.Child)
	default:
		seen += fmt.Sprintf("no process reads another's memory (%v)", r.Parent)
	}
	why := errors.Join(r.Child, r.Parent)
	scope := m.word("proc/sys/kernel/yama/ptrace_scope")
	switch {
	case errors.Is(why, syscall.ENOSYS):
		return warn(seen, "use a kernel with CONFIG_CROSS_MEMORY_ATTACH; a sandbox such as gVisor may lack the call")
	case scope != "" && scope != "0":
		return warn(seen+"; kernel.yama.ptrace_scope is "+scope, "sysctl kernel.yama.ptrace_scope=0, or --cap-add=SYS_PTRACE for a container")
	case m.status("Seccomp") == "2":
		return warn(seen+"; a seccomp filter is on", "allow process_vm_readv and process_vm_writev in the container's seccomp profile: --cap-add=SYS_PTRACE, or --security-opt seccomp=FILE")
	}
	return warn(seen, "allow process_vm_readv: CAP_SYS_PTRACE, a security module (SELinux's deny_ptrace) that permits it, and one user for all ranks")
}
