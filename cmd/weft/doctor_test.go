package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/doctor"
)

type report struct {
	Worst  doctor.Level     `json:"worst"`
	Checks []doctor.Finding `json:"checks"`
}

// The command on the machine that the test runs on, whatever that is like.
func TestDoctorExaminesThisMachine(t *testing.T) {
	weft := build(t)
	examine := func(env []string, args ...string) (out string, code int) {
		cmd := exec.CommandContext(t.Context(), weft, append([]string{"doctor"}, args...)...)
		cmd.Env = append(os.Environ(), env...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		code = exitCode(t, cmd.Run())
		if stderr.Len() > 0 {
			t.Errorf("weft doctor %v: %s", args, stderr.String())
		}
		return stdout.String(), code
	}
	read := func(env []string, args ...string) (r report) {
		out, code := examine(env, append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if want := map[doctor.Level]int{doctor.Problem: 1}[r.Worst]; code != want || r.Worst != doctor.Worst(r.Checks) {
			t.Errorf("exit code %d, the worst is %s: %s", code, r.Worst, out)
		}
		for _, f := range r.Checks {
			if f.Check == "" || f.Seen == "" || (f.Level == doctor.OK) != (f.Remedy == "") {
				t.Errorf("%+v", f)
			}
		}
		return r
	}
	level := func(r report, check string) (doctor.Level, string) {
		for _, f := range r.Checks {
			if f.Check == check {
				return f.Level, f.Seen
			}
		}
		t.Errorf("there is no check %q", check)
		return "", ""
	}

	r := read(nil)
	if l, seen := level(r, "reads between processes"); l == doctor.Warning && strings.Contains(seen, "not tried") {
		t.Errorf("no process has tried to read another: %s", seen)
	}
	text, _ := examine(nil)
	for _, f := range r.Checks {
		if !strings.Contains(text, f.Check) || f.Remedy != "" && !strings.Contains(text, "remedy: ") {
			t.Errorf("%+v is not in\n%s", f, text)
		}
	}
	r = read([]string{"WEFT_FABRIK=shm"})
	if l, seen := level(r, "configuration"); l != doctor.Problem || !strings.Contains(seen, "WEFT_FABRIC") {
		t.Errorf("WEFT_FABRIK: %s, %s", l, seen)
	}
	r = read([]string{"GOMAXPROCS=1"}, "-n", "4096")
	for _, check := range []string{"GOMAXPROCS", "processors"} {
		if l, seen := level(r, check); l != doctor.Warning {
			t.Errorf("with 4096 ranks and one processor: %s is %s, %s", check, l, seen)
		}
	}
}

func TestFindingsAreLinedUp(t *testing.T) {
	var out strings.Builder
	diagnosis(&out, []doctor.Finding{
		{Check: "clock", Level: doctor.OK, Seen: "tsc"},
		{Check: "shared memory", Level: doctor.Problem, Seen: "no\nmemfd", Remedy: "allow\nit"},
		{Check: "quota", Level: doctor.Warning, Seen: "little", Remedy: "more"},
	})
	const want = `ok       clock          tsc
problem  shared memory  no
                        memfd
                        remedy: allow
                        it
warning  quota          little
                        remedy: more

ok: 1, warnings: 1, problems: 1
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
