package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVar makes the test binary be the child of ReadChild.
const childVar = "DOCTOR_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "filtered":
		beFiltered()
	case "examine":
		beExamined()
	case "silent":
		io.Copy(io.Discard, os.Stdin)
	case "liar": // an address where there is something else
		mine, err := secret()
		if err != nil {
			panic(err)
		}
		fmt.Println(addressOf(mine), strings.Repeat("00", secretLen), strings.Repeat("00", secretLen))
		io.Copy(io.Discard, os.Stdin)
	case "nonsense":
		fmt.Println("nonsense")
	case "refused":
		fmt.Printf("%d 00 errno:%d\n", 16, int(syscall.EPERM)) // nothing is at that address
		io.Copy(io.Discard, os.Stdin)
	default:
		if err := Child(os.Args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// as starts this program as a child of some kind.
func as(kind string) func(ctx context.Context, arg string) *exec.Cmd {
	return func(ctx context.Context, arg string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0], arg)
		cmd.Env = append(os.Environ(), childVar+"="+kind, "GORACE=atexit_sleep_ms=0")
		return cmd
	}
}

// The kernel of a machine permits it, or says why not: what it does not do is to read
// other bytes.
func TestAProcessReadsItsChildAndTheChildItsParent(t *testing.T) {
	r, err := ReadChild(t.Context(), as("true"))
	if err != nil {
		t.Fatal(err)
	}
	for who, err := range map[string]error{"its child": r.Child, "its parent": r.Parent} {
		var errno syscall.Errno
		switch {
		case err == nil:
		case errors.As(err, &errno) && slices.Contains([]syscall.Errno{syscall.EPERM, syscall.ENOSYS}, errno):
			t.Logf("this kernel lets no process read %s: %v", who, err)
		default:
			t.Errorf("a process reads %s: %v", who, err)
		}
	}
}

func TestWhatAChildSaysIsNotBelieved(t *testing.T) {
	r, err := ReadChild(t.Context(), as("liar"))
	var errno syscall.Errno
	if err != nil || !errors.Is(r.Parent, errOther) || !errors.Is(r.Child, errOther) && !errors.As(r.Child, &errno) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ReadChild(t.Context(), as("refused"))
	if err != nil || r.Parent != syscall.EPERM || r.Child == nil {
		t.Errorf("%+v, %v", r, err)
	}
	for kind, want := range map[string]string{"nonsense": `says "nonsense`, "true bad": ""} {
		start := as(kind)
		if kind == "true bad" {
			start = func(ctx context.Context, arg string) *exec.Cmd { return as("true")(ctx, "no argument") }
		}
		if _, err := ReadChild(t.Context(), start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if _, err := ReadChild(t.Context(), func(ctx context.Context, arg string) *exec.Cmd {
		return exec.CommandContext(ctx, "/no/such/program")
	}); err == nil {
		t.Error("a program that there is not is a child")
	}
}

// A child that says nothing is not waited for longer than the context lasts.
func TestASilentChildIsNotWaitedFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ReadChild(ctx, as("silent")); err == nil {
		t.Error("a child that says nothing has said where its memory is")
	}
}

func TestHereReadsThisMachine(t *testing.T) {
	m := Here(3)
	for name := range resources {
		if l, err := m.Limit(name); err != nil || l.Soft > l.Hard || l.Hard == 0 {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if _, err := m.Limit("patience"); err == nil {
		t.Error("there is a limit on patience")
	}
	if s, err := m.Statfs("/"); err != nil || s.Free > s.All {
		t.Errorf("the space of /: %+v, %v", s, err)
	}
	if m.status("Name") == "" || m.Ranks != 3 {
		t.Errorf("%+v has no status", m)
	}
}
