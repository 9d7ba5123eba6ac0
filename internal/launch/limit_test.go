package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNumberOfRanksHasTypedLimits(t *testing.T) {
	for _, c := range []struct {
		n     int
		limit uint64
	}{{-1, 1}, {0, 1}, {MaxRanks + 1, MaxRanks}} {
		_, err := launch(t, c.n, "greet")
		e, ok := errors.AsType[*LimitError](err)
		if !ok || e.N != c.n || e.Limit != c.limit || !strings.Contains(e.Error(), fmt.Sprint(e.Limit)) {
			t.Errorf("%d ranks: %v, want limit %d", c.n, err, c.limit)
		}
	}
}

func TestDescriptorsThatSufficeAreNotRefused(t *testing.T) {
	for _, c := range []struct {
		n, streams int
		f          files
		most       int // ranks that fit; n: accepted
	}{
		{1, 0, files{100, 5}, 1},
		{1, 0, files{100, 4}, 0},
		{10, 0, files{100, 3 + 20}, 10},
		{10, 0, files{100, 3 + 19}, 9},
		{10, 2, files{100, 5 + 40}, 10},
		{10, 2, files{100, 5 + 39}, 9},
		{10, 1, files{100, 0}, 0},
		{MaxRanks, 2, files{1 << 40, 1 << 40}, MaxRanks},
	} {
		err := c.f.check(c.n, c.streams)
		if c.most == c.n {
			if err != nil {
				t.Errorf("%d ranks, %d streams, %+v: %v", c.n, c.streams, c.f, err)
			}
			continue
		}
		e, ok := errors.AsType[*LimitError](err)
		if !ok || e.N != c.n || e.Limit != uint64(c.most) || !strings.Contains(e.Error(), fmt.Sprintf("RLIMIT_NOFILE is %d", c.f.limit)) {
			t.Errorf("%d ranks, %d streams, %+v: %v, want limit %d", c.n, c.streams, c.f, err, c.most)
		}
	}
}

// The least limit that passes the check is enough for the job, and one less is
// not, with the check and without. So the check rejects no limit that is enough
// and accepts none that is too low.
func TestTheLeastLimitOnDescriptorsCarriesAJob(t *testing.T) {
	for _, streams := range []string{"0", "1", "2"} {
		for _, c := range []struct{ less, check, want string }{
			{"0", "yes", "done"},
			{"0", "no", "done"},
			{"1", "yes", "refused"},
			{"1", "no", "refused"},
		} {
			cmd := exec.CommandContext(deadline(t), os.Args[0])
			cmd.Env = roleEnv("narrow", "NARROW="+streams+" "+c.less+" "+c.check)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("%s streams, %s less, checked: %s: %v, want %s\n%s", streams, c.less, c.check, err, c.want, out)
			}
		}
	}
}

// playNarrow is a launcher with exactly as many descriptors as it needs, or
// fewer.
func playNarrow() error {
	var streams, less int
	var checked string
	if _, err := fmt.Sscan(os.Getenv("NARROW"), &streams, &less, &checked); err != nil {
		return err
	}
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv("greet")}
	if streams > 0 {
		l.Stdout = io.MultiWriter()
	}
	if streams > 1 {
		l.Stderr = io.MultiWriter()
	}
	c, err := l.prepare(func(error) {})
	if err != nil {
		return err
	}
	// Inherited descriptors may have any number.
	want := filesFor(l.N, l.copied()) - uint64(less)
	limit := uint64(0)
	for free := uint64(0); free < want; limit++ {
		if err := unix.Access(fmt.Sprint("/proc/self/fd/", limit), unix.F_OK); err != nil {
			free++
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	if checked == "yes" {
		err = checkFiles(l.N, l.copied())
	}
	if err == nil {
		err = c.run(context.Background())
	}
	switch _, refused := errors.AsType[*LimitError](err); {
	case refused:
		fmt.Println("refused:", err)
	case err == nil:
		fmt.Println("done with", limit)
	default:
		return err
	}
	return nil
}

// A rank is a Go program: it runs with the hard limit less one, whatever the
// soft limit was. The programs that it starts get the soft limit.
func TestRanksHaveTheHardLimitAndPassTheSoftOneOn(t *testing.T) {
	const soft, hard = "200", "300"
	cmd := exec.CommandContext(deadline(t), "sh", "-c", "ulimit -Sn "+soft+"; ulimit -Hn "+hard+"; exec \"$0\"", os.Args[0])
	cmd.Env = roleEnv("launcher", "BOOT_TEST_LAUNCH=show limits")
	out, err := cmd.CombinedOutput()
	if want := "299, starts 200\n"; err != nil || string(out) != strings.Repeat(want, 3) {
		t.Errorf("%v, got\n%swant of three ranks: %s", err, out, want)
	}
}

func playShowLimits() error {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return err
	}
	out, err := exec.Command("sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		return err
	}
	soft, err := strconv.Atoi(strings.TrimSpace(string(out)))
	fmt.Printf("%d, starts %d\n", r.Cur, soft)
	return err
}

func TestASoftLimitThatIsInTheWayIsRaised(t *testing.T) {
	cmd := exec.CommandContext(deadline(t), os.Args[0])
	cmd.Env = roleEnv("lowered")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// playLowered is a launcher whose program has lowered its own soft limit.
func playLowered() error {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return err
	}
	r.Cur -= readFiles().free - 4
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return err
	}
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv("greet"), Stdout: io.Discard}
	err := l.Run(context.Background())
	fmt.Println("done")
	return err
}
