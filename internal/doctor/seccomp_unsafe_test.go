package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbid makes the kernel refuse process_vm_readv to the calling thread and to what it
// executes, as the profile of a container does (seccomp(2)).
func forbid() error {
	const number = 0 // offset of nr in struct seccomp_data
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_PROCESS_VM_READV},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
}

// beFiltered executes this program again below the filter.
func beFiltered() {
	runtime.LockOSThread()
	if err := forbid(); err != nil {
		fmt.Fprintln(os.Stderr, "no filter:", err)
		os.Exit(3)
	}
	os.Setenv(childVar, "examine")
	panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// beExamined prints what the check says of this process and its child.
func beExamined() {
	m := Here(1)
	m.Read = func() (Reads, error) { return ReadChild(context.Background(), as("true")) }
	json.NewEncoder(os.Stdout).Encode(m.reads())
}

// A process below a container's filter, and its child, read nothing, and the check
// says why.
func TestAFilterOfSystemCallsIsFoundOut(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=filtered", "GORACE=atexit_sleep_ms=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3 {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("WEFT_CI=1 says that filters must work: %s", stderr.String())
		}
		t.Skipf("%s", stderr.String())
	}
	var f Finding
	if err != nil || json.Unmarshal(out, &f) != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	if f.Level != Warning || !strings.Contains(f.Seen, "no process reads another's memory (operation not permitted)") {
		t.Errorf("%+v", f)
	}
	scope := Here(1).word("proc/sys/kernel/yama/ptrace_scope")
	if (scope == "" || scope == "0") && !strings.Contains(f.Remedy, "seccomp profile") {
		t.Errorf("%+v", f)
	}
}
