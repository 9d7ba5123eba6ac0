package launch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRanksAreBoundToTheCoresInTurn(t *testing.T) {
	cores, err := AllowedCores()
	if err != nil {
		t.Fatal(err)
	}
	own := affinity()
	free := fmt.Sprint(len(cores))
	for _, c := range []struct {
		name  string
		n     int
		bind  Bind
		env   string
		bound bool
		procs string
	}{
		{"one core a rank", len(cores), BindAuto, "", true, "1"},
		{"the user's GOMAXPROCS stays", 1, BindAuto, "GOMAXPROCS=3", true, "3"},
		{"more ranks than cores", len(cores) + 1, BindAuto, "", true, "1"},
		{"BindNone", 1, BindNone, "", false, free},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.n > 8 {
				t.Skip("too many cores to fill in a test")
			}
			out, err := launch(t, c.n, "greet", func(l *Launch) {
				l.Bind = c.bind
				if c.env != "" {
					l.Env = append(l.Env, c.env)
				}
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for i, m := range checkGreetings(t, out, c.n, LauncherWeft) {
				want, total := own, len(cores)
				if c.bound {
					want, total = fmt.Sprintf("[%d]", cores[i%len(cores)]), min(c.n, len(cores))
				}
				if m["affinity"] != want || m["cores"] != fmt.Sprint(total) {
					t.Errorf("rank %d has affinity %s of %s cores, want %s of %d", i, m["affinity"], m["cores"], want, total)
				}
				if m["over"] != fmt.Sprint(c.n > len(cores)) {
					t.Errorf("rank %d: oversubscribed %s", i, m["over"])
				}
				if m["procs"] != c.procs && os.Getenv("GOMAXPROCS") == "" {
					t.Errorf("rank %d has GOMAXPROCS %s, want %s", i, m["procs"], c.procs)
				}
			}
			noThreadBound(t, len(cores))
		})
	}
}

// noThreadBound checks that every thread of this process has all its cores.
func noThreadBound(t *testing.T, cores int) {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		set := unix.NewCPUSet(maxCPUs)
		err = unix.SchedGetaffinityDynamic(tid, set)
		if err == nil && set.Count() != cores {
			t.Errorf("thread %d has %d cores, want %d", tid, set.Count(), cores)
		} else if err != nil && !errors.Is(err, syscall.ESRCH) { // the thread may have exited
			t.Error(err)
		}
	}
}
