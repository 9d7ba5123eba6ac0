package hosts_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/hosts"
)

// patience is the time limit of a wait that must succeed, many times what it
// takes.
const patience = 5 * time.Minute

// roleVar makes the test binary play a part on a host.
const roleVar = "WEFT_HOSTS_TEST_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "serve":
		err = serve()
	case "dial":
		err = dial(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve greets whoever connects, until it is killed.
func serve() error {
	l, err := net.Listen("tcp", ":")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		fmt.Fprintln(c, "hello", c.RemoteAddr().(*net.TCPAddr).IP)
		c.Close()
	}
}

// dial prints how it is greeted.
func dial(addr string) error {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err
	}
	said, err := bufio.NewReader(c).ReadString('\n')
	fmt.Print(said)
	return err
}

// play is the test binary in a role on a host.
func play(k *hosts.Kit, host, role string, args ...string) *exec.Cmd {
	line := k.Command(host, append([]string{os.Args[0]}, args...)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// server starts serve on a host and returns its port.
func server(t *testing.T, k *hosts.Kit, host string) (port string, cmd *exec.Cmd) {
	t.Helper()
	cmd = play(k, host, "serve")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	port, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(port), cmd
}

// until waits for a condition. It pauses between two looks, since what it waits for
// needs the processor.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s has not come", what)
		}
	}
}

// processes counts those of a kit, by the script's own mark.
func processes(t *testing.T, kit string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		b, _ := os.ReadFile(f) // the process may have ended
		if strings.Contains(string(b), " weft-hosts:"+kit+":") {
			n++
		}
	}
	return n
}

func kitOf(k *hosts.Kit) string { return strings.TrimSuffix(k.Names[0], "0") }

func TestHostsReachEachOtherOverIPv4AndIPv6(t *testing.T) {
	k := hosts.Up(t, 3)
	port, _ := server(t, k, k.Names[2])
	for _, c := range []struct{ to, hello string }{
		{"10.88.0.3", "10.88.0.1"},
		{"fd88::3", "fd88::1"},
		{k.Names[2], "10.88.0.1"},
	} {
		out, err := play(k, k.Names[0], "dial", net.JoinHostPort(c.to, port)).Output()
		if want := "hello " + c.hello + "\n"; string(out) != want && string(out) != "hello fd88::1\n" || err != nil {
			t.Errorf("%s says %q, %v, want %q", c.to, out, err, want)
		}
	}
}

func TestAHostHasItsOwnNameInterfacesAndSharedMemory(t *testing.T) {
	k := hosts.Up(t, 2)
	shm := map[string]bool{}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range k.Names {
		out := k.Output(h, "sh", "-c", "hostname; echo /sys/class/net/*; pwd; stat -c %d /dev/shm")
		want := h + "\n/sys/class/net/eth0 /sys/class/net/lo\n" + dir + "\n"
		device, ok := strings.CutPrefix(out, want)
		if !ok || shm[device] {
			t.Errorf("on %s: %q, want %q and a device that no other host has", h, out, want)
		}
		shm[device] = true
	}
	var own syscall.Stat_t
	if err := syscall.Stat("/dev/shm", &own); err == nil && shm[strconv.FormatUint(own.Dev, 10)+"\n"] {
		t.Error("a host has the machine's /dev/shm")
	}
}

// A launcher knows its ranks by their process ids, and speaks to them over
// descriptors.
func TestACommandKeepsItsProcessAndItsDescriptors(t *testing.T) {
	k := hosts.Up(t, 1)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	line := k.Command(k.Names[0], "sh", "-c", "echo $$ >&3; exit 7")
	cmd := exec.Command(line[0], line[1:]...)
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Run()
	w.Close()
	said, rerr := bufio.NewReader(r).ReadString('\n')
	if said != fmt.Sprintln(cmd.Process.Pid) || rerr != nil {
		t.Errorf("process %d says %q, %v", cmd.Process.Pid, said, rerr)
	}
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 7 {
		t.Errorf("exit: %v, want 7", err)
	}
}

// waitsForSYN reports whether a connection of the host has been asked for more
// than once and not answered.
func waitsForSYN(t *testing.T, k *hosts.Kit, host string) bool {
	b, err := os.ReadFile(filepath.Join(k.Net(host), "tcp"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line) // proc(5): state 02 is SYN_SENT, the seventh is retransmits
		if len(f) > 6 && f[3] == "02" && strings.Trim(f[6], "0") != "" {
			return true
		}
	}
	return false
}

func TestWhatIsCutOrDroppedArrivesOnceThatEnds(t *testing.T) {
	for _, c := range []struct {
		name         string
		break_, mend func(k *hosts.Kit, a, b string)
	}{
		{"cut at one end", func(k *hosts.Kit, a, _ string) { k.Cut(a) }, func(k *hosts.Kit, a, _ string) { k.Heal(a) }},
		{"cut at the other", func(k *hosts.Kit, _, b string) { k.Cut(b) }, func(k *hosts.Kit, _, b string) { k.Heal(b) }},
		{"dropped", (*hosts.Kit).Drop, (*hosts.Kit).Undrop},
		{"dropped twice", func(k *hosts.Kit, a, b string) { k.Drop(a, b); k.Drop(b, a) }, (*hosts.Kit).Undrop},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := hosts.Up(t, 3)
			a, b := k.Names[0], k.Names[1]
			port, _ := server(t, k, b)
			c.break_(k, a, b)
			cmd := play(k, a, "dial", "10.88.0.2:"+port)
			var out strings.Builder
			cmd.Stdout = &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			until(t, "a second SYN", func() bool { return waitsForSYN(t, k, a) })
			if strings.HasPrefix(c.name, "dropped") {
				third, _ := server(t, k, k.Names[2])
				if got, err := play(k, a, "dial", "10.88.0.3:"+third).Output(); string(got) != "hello 10.88.0.1\n" || err != nil {
					t.Errorf("the third host says %q, %v", got, err)
				}
			}
			c.mend(k, a, b)
			if err := cmd.Wait(); err != nil || out.String() != "hello 10.88.0.1\n" {
				t.Errorf("%q, %v", out.String(), err)
			}
		})
	}
}

func TestDownEndsTheProcessesOfItsHostsAndNoOthers(t *testing.T) {
	one, other := hosts.Up(t, 2), hosts.Up(t, 1)
	_, dies := server(t, one, one.Names[1])
	_, stays := server(t, other, other.Names[0])
	if out, err := exec.Command(one.Script, "down", kitOf(one)).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("down: %v: %s", err, out)
	}
	if err := dies.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("a process of the kit: %v", err)
	}
	if err := stays.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process of the other kit: %v", err)
	}
	if n := processes(t, kitOf(one)); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if out, err := exec.Command(one.Script, "list").Output(); err != nil || strings.Contains(string(out), kitOf(one)) || !strings.Contains(string(out), other.Names[0]) {
		t.Errorf("list: %v: %s", err, out)
	}
}

func TestAKitGoesDownWithTheProcessItIsFor(t *testing.T) {
	k := hosts.Up(t, 1)
	user := exec.Command("sleep", "infinity")
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	defer user.Process.Kill()
	kit := kitOf(k) + "y"
	if out, err := exec.Command(k.Script, "up", "--with", strconv.Itoa(user.Process.Pid), "2", kit).CombinedOutput(); err != nil {
		t.Fatalf("up: %v: %s", err, out)
	}
	if n := processes(t, kit); n != 3 {
		t.Errorf("%d processes hold two hosts and a switch", n)
	}
	user.Process.Kill()
	user.Wait()
	until(t, "the end of the kit", func() bool {
		_, err := os.Stat("/run/weft-hosts/" + kit)
		return processes(t, kit) == 0 && errors.Is(err, os.ErrNotExist)
	})
}

func TestWrongUsageIsToldInWords(t *testing.T) {
	k := hosts.Up(t, 2)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"", 2, "usage: scripts/hosts VERB"},
		{"sideways", 2, "usage: scripts/hosts VERB"},
		{"up", 2, "up takes a number of hosts"},
		{"up 0 a", 2, "up takes a number of hosts"},
		{"up 251 a", 2, "up takes a number of hosts"},
		{"up 1 a/b", 2, "is no name for a kit"},
		{"up 1 a1", 2, "is no name for a kit"},
		{"up --with 1x 1 a", 2, "--with takes the id of a process"},
		{"up 1 " + kitOf(k), 1, "is up, or remains of it are: scripts/hosts down " + kitOf(k)},
		{"in " + k.Names[0], 2, "in takes a host and a command"},
		{"in nobody7 true", 1, "there is no host nobody7"},
		{"in " + k.Names[0] + " no-such-command", 127, "no-such-command"},
		{"cut " + kitOf(k) + "2", 1, "there is no host"},
		{"drop " + k.Names[0], 2, "drop takes two hosts"},
		{"drop " + k.Names[0] + " " + k.Names[0], 2, "is one host"},
		{"drop " + k.Names[0] + " nobody7", 2, "hosts of different kits"},
		{"in " + k.Names[0] + " " + k.Script + " down " + kitOf(k), 1, "call down outside of it"},
	} {
		out, err := exec.Command(k.Script, strings.Fields(c.args)...).CombinedOutput()
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok || e.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("hosts %s: %v, want exit code %d, %q in\n%s", c.args, err, c.code, c.says, out)
		}
	}
	if out, err := exec.Command(k.Script, "--help").Output(); err != nil || !strings.Contains(string(out), "usage: scripts/hosts VERB") {
		t.Errorf("--help: %v: %s", err, out)
	}
}
