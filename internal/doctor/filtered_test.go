package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/testkit/seccomp"
)

// beFiltered executes this program again below a filter.
func beFiltered() {
	os.Setenv(childVar, "examine")
	fmt.Fprintln(os.Stderr, "no filter:", seccomp.Exec(unix.SYS_PROCESS_VM_READV, unix.EPERM, os.Args, os.Environ()))
	os.Exit(3)
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
