// Package hosts makes hosts on this machine for tests, by scripts/hosts: each has
// a network, a /dev/shm and a name of its own.
package hosts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Kit is a number of hosts that reach each other over Ethernet. It is safe for
// concurrent use.
type Kit struct {
	Names  []string // of the hosts; they resolve to addresses on each of them
	Script string   // path of scripts/hosts
	t      testing.TB
	name   string
}

// unable is the exit code of scripts/hosts where hosts can't be made.
const unable = 3

// kits numbers those of this process.
var kits atomic.Uint32

// Up makes n hosts, which go down with the test, or with this process if that is
// killed. Where hosts can't be made, for want of root or of a tool, it skips the
// test with the reason; with WEFT_CI=1 that is a failure, so that a skip can't
// hide a bug.
func Up(t testing.TB, n int) *Kit {
	t.Helper()
	// Other tests of this process, and other processes, have kits too.
	k := &Kit{Script: script(t), t: t, name: fmt.Sprintf("t%dn%dx", os.Getpid(), kits.Add(1))}
	if out, err := exec.Command(k.Script, "check").CombinedOutput(); err != nil {
		why := strings.TrimSpace(string(out))
		if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != unable {
			t.Fatalf("scripts/hosts check: %v: %s", err, why)
		}
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("%s, and WEFT_CI=1 says that they must be", why)
		}
		t.Skip(why)
	}
	t.Cleanup(func() { k.call("down", k.name) })
	k.Names = strings.Fields(k.call("up", "--with", strconv.Itoa(os.Getpid()), strconv.Itoa(n), k.name))
	if len(k.Names) != n {
		t.Fatalf("scripts/hosts up %d makes the hosts %q", n, k.Names)
	}
	return k
}

// Command is what becomes a command on a host: a program and its arguments.
func (k *Kit) Command(host string, command ...string) []string {
	return append([]string{k.Script, "in", host}, command...)
}

// Output runs a command on a host and returns what it has written to its standard
// output. If it fails, the test does.
func (k *Kit) Output(host string, command ...string) string {
	k.t.Helper()
	return k.call(k.Command(host, command...)[1:]...)
}

// Cut unplugs a host, and Heal plugs it in again.
func (k *Kit) Cut(host string)  { k.t.Helper(); k.call("cut", host) }
func (k *Kit) Heal(host string) { k.t.Helper(); k.call("heal", host) }

// Drop has two hosts drop what they send each other over IP, without a word to the
// sender, and Undrop ends that.
func (k *Kit) Drop(a, b string)   { k.t.Helper(); k.call("drop", a, b) }
func (k *Kit) Undrop(a, b string) { k.t.Helper(); k.call("undrop", a, b) }

// Net is the folder of /proc with a host's view of its network, such as the file
// snmp (proc(5)).
func (k *Kit) Net(host string) string {
	k.t.Helper()
	b, err := os.ReadFile(filepath.Join("/run/weft-hosts", k.name, host+".pid"))
	if err != nil {
		k.t.Error(err)
	}
	return filepath.Join("/proc", strings.TrimSpace(string(b)), "net")
}

// call runs the script. It does not end the goroutine, which may not be the test's.
func (k *Kit) call(args ...string) string {
	k.t.Helper()
	cmd := exec.Command(k.Script, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		k.t.Errorf("scripts/hosts %s: %v: %s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}

// script finds scripts/hosts from the folder of the package that is tested.
func script(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			return filepath.Join(dir, "scripts", "hosts")
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no folder above this one has a go.mod")
		}
	}
	t.Fatal(err)
	return ""
}
