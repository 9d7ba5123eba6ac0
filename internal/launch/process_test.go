package launch

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestARankIsTheUsersProcessUnlessMoreIsAskedFor(t *testing.T) {
	cores, err := AllowedCores()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/timerslack_ns")
	if err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(roleEnv("process"), func(kv string) bool {
		return strings.HasPrefix(kv, "GLIBC_TUNABLES=") || strings.HasPrefix(kv, "GOMAXPROCS=")
	})
	for _, c := range []struct {
		name  string
		n     int
		set   func(*Launch)
		slack string
		more  []string // variables
	}{
		{"a core for the rank", 1, func(*Launch) {}, string(own), nil},
		{"more ranks than cores", len(cores) + 1, func(*Launch) {}, string(own), nil},
		{"no core in particular", 1, func(l *Launch) { l.Bind = BindNone }, string(own), nil},
		{"timer slack", 1, func(l *Launch) { l.TimerSlack = 4 * time.Millisecond }, "4000000", nil},
		{"no rseq", 1, func(l *Launch) { l.NoRseq = true }, string(own), []string{"GLIBC_TUNABLES=glibc.pthread.rseq=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.n > 8 {
				t.Skip("too many cores to fill in a test")
			}
			out, err := launch(t, c.n, "process", func(l *Launch) {
				l.Env = slices.Clone(env)
				c.set(l)
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := map[string]int{"slack " + strings.TrimSpace(c.slack): c.n}
			for _, kv := range append(env[:len(env):len(env)], c.more...) {
				want[fmt.Sprintf("%q", kv)] = c.n
			}
			for rank := range c.n {
				want[fmt.Sprintf("%q", fmt.Sprint("WEFT_RANK=", rank))] = 1
			}
			want[`"WEFT_FD=3"`] = c.n
			want[fmt.Sprintf("%q", fmt.Sprint("WEFT_SIZE=", c.n))] = c.n
			for line := range strings.Lines(out) {
				line = strings.TrimSpace(line)
				if want[line]--; want[line] < 0 {
					t.Errorf("a rank has %s", line)
				}
			}
			for line, n := range want {
				if n > 0 {
					t.Errorf("%d ranks miss %s", n, line)
				}
			}
		})
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		now, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
		if err == nil && string(now) != string(own) { // the thread may have exited
			t.Errorf("the launcher's thread %s has a timer slack of %s, not %s", thread.Name(), now, own)
		}
	}
}
