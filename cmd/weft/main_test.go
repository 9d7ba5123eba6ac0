package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/setting"
)

// beVar makes the test binary be weft, or a rank.
const beVar = "TEST_OF_WEFT_BE"

func TestMain(m *testing.M) {
	switch os.Getenv(beVar) {
	case "weft":
		os.Setenv(beVar, "rank") // for the ranks that it starts
		main()
	case "filtered":
		os.Exit(beFiltered())
	case "bounded":
		os.Exit(beBounded())
	case "rank":
		if len(os.Args) == 2 && os.Args[1] == "use" {
			os.Exit(beUser())
		}
		if len(os.Args) == 3 && os.Args[1] == "hang" {
			os.Exit(hung(os.Args[2]))
		}
		for i := range lines {
			os.Stdout.WriteString(line("out", i))
			os.Stderr.WriteString(line("err", i))
		}
	default:
		if len(os.Args) == 2 && os.Args[1] == agentName { // weft run in a test has this binary start its ranks
			main()
		}
		os.Exit(m.Run())
	}
}

const lines = 40

// line is longer than the longest write that a pipe keeps whole (PIPE_BUF).
func line(stream string, i int) string {
	return fmt.Sprintf("%s %d %s\n", stream, i, strings.Repeat("x", 5000*(1+i%5)))
}

// weft returns a command that runs weft in a process of its own.
func weft(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), beVar+"=weft", "GORACE=atexit_sleep_ms=0")
	return cmd
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err == nil {
		return 0
	}
	return exit.ExitCode()
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args     string
		code     int
		out, err string // a part of what is printed there; "": nothing is
	}{
		{"", 2, "", "usage: weft COMMAND"},
		{"-h", 0, "usage: weft COMMAND", ""},
		{"--help", 0, "usage: weft COMMAND", ""},
		{"help", 0, "usage: weft COMMAND", ""},
		{"help run", 0, "usage: weft run", ""},
		{"run -h", 0, "WEFT_FABRIC=NAME", ""},
		{"info -h", 0, "usage: weft info", ""},
		{"info --help", 0, "usage: weft info", ""},
		{"version -h", 0, "usage: weft version", ""},
		{"--version", 0, "wire version ", ""},
		{"version", 0, "wire version ", ""},
		{"doctor -h", 0, "usage: weft doctor", ""},
		{"doctor more", 2, "", "takes no arguments"},
		{"doctor -n -1", 2, "", "a job has 1 to"},
		{"doctro", 2, "", "did you mean weft doctor?"},
		{"info -c more", 2, "", "takes no arguments"},
		{"info more", 2, "", "takes no arguments"},
		{"version more", 2, "", "takes no arguments"},
		{"info --more", 2, "", "unknown flag: --more (weft info -h tells the flags)"},
		{"rnu -n 2 true", 2, "", `there is no command "rnu": did you mean weft run?`},
		{"inof", 2, "", "did you mean weft info?"},
		{"help rum", 2, "", "did you mean weft run?"},
		{"benchmark", 2, "", "it is one of run, info, stacks, top, trace, doctor, version"},
		{"-n 2 true", 2, "", "write weft run -n RANKS PROGRAM"},
		{"./program", 2, "", "write weft run -n RANKS PROGRAM"},
		{"run", 2, "", "no program to run"},
		{"run -n 2 ''", 2, "", "no program to run"},
		{"run -n 2 -n 3 true", 2, "", "-n is given twice, as 2 and as 3"},
		{"run -n 2 -np 3 true", 2, "", "-n is given twice, as 2 and as 3"},
		{"run -np 2 --np=3 true", 2, "", "-n is given twice, as 2 and as 3"},
		{"run --trace a --trace b true", 2, "", "--trace is given twice, as a and as b"},
		{"run --label --label=false true", 2, "", "--label is given twice"},
		{"run -n 1 -np 1 true", 0, "", ""},
		{"run --timer-slack -1s true", 2, "", "--timer-slack -1s: a time of up to 1s"},
		{"run --timer-slack 1001ms true", 2, "", "--timer-slack 1.001s: a time of up to 1s"},
		{"run --timer-slack 4 true", 2, "", "missing unit"},
		{"run --timer-slack soon true", 2, "", "--timer-slack"},
		{"run --timer-slack 1s true", 0, "", ""},
		{"run --bind '' true", 2, "", "--bind has an empty value"},
		{"run --trace '' true", 2, "", "--trace has an empty value"},
		{"run --trace= true", 2, "", "--trace has an empty value"},
		{"run --metrics '' true", 2, "", "--metrics has an empty value"},
		{"run --metrics-file '' true", 2, "", "--metrics-file has an empty value"},
		{"run --hosts '' true", 2, "", "--hosts has an empty value"},
		{"run --hostfile '' true", 2, "", "--hostfile has an empty value"},
		{"run --launcher '' true", 2, "", "--launcher has an empty value"},
		{"run --ssh '' true", 2, "", "--ssh has an empty value"},
		{"run --agent '' true", 2, "", "--agent has an empty value"},
		{"run --wdir '' true", 2, "", "--wdir has an empty value"},
		{"trace merge -o '' part", 2, "", "--output has an empty value"},
		{"trace merge -o joined ''", 2, "", "weft trace was given an empty argument"},
		{"trace -o a -o b merge part", 2, "", "--output is given twice"},
		{"stacks ''", 2, "", "weft stacks was given an empty argument"},
		{"stacks --wait -1s", 2, "", "--wait -1s leaves no time"},
		{"top ''", 2, "", "weft top was given an empty argument"},
		{"top --interval 1s --interval 2s", 2, "", "--interval is given twice, as 1s and as 2s"},
		{"doctor -n 1 -n 2", 2, "", "-n is given twice"},
		{"run -n two true", 2, "", "two"},
		{"run --bind sometimes true", 2, "", "use auto or none"},
		{"run -n 0 true", 2, "", "a job has at least one rank"},
		{"run -n 2 true", 0, "", ""},
		{"run -n 2 false", 1, "", "exited with code 1"},
		{"run ./no-such-program", 1, "", "no-such-program"},
	} {
		var stdout, stderr bytes.Buffer
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		code := run(args, &stdout, &stderr)
		for _, s := range []struct{ name, got, want string }{{"stdout", stdout.String(), c.out}, {"stderr", stderr.String(), c.err}} {
			if !strings.Contains(s.got, s.want) || s.want == "" && s.got != "" {
				t.Errorf("weft %s: %s is %q, want %q", c.args, s.name, s.got, s.want)
			}
		}
		if code != c.code {
			t.Errorf("weft %s: exit code %d, want %d", c.args, code, c.code)
		}
	}
}

func TestNPIsN(t *testing.T) {
	for args, want := range map[string]string{
		"-np 2 echo -np 3":          "0: -np 3\n1: -np 3\n",
		"-np=2 echo x":              "0: x\n1: x\n",
		"--np 2 echo x":             "0: x\n1: x\n",
		"--bind none -np 2 echo x":  "0: x\n1: x\n",
		"--bind=none -np 2 echo x":  "0: x\n1: x\n",
		"-n 2 -- echo -np":          "0: -np\n1: -np\n",
		"-n2 echo x":                "0: x\n1: x\n",
		"echo -np 2":                "0: -np 2\n",
		"--label -np 2 echo --np 4": "0: --np 4\n1: --np 4\n",
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"run", "-l"}, strings.Fields(args)...), &stdout, &stderr)
		got := strings.SplitAfter(stdout.String(), "\n")
		slices.Sort(got)
		if code != 0 || strings.Join(got, "") != want || stderr.Len() > 0 {
			t.Errorf("weft run -l %s: %d, %q, %q, want %q", args, code, stdout.String(), stderr.String(), want)
		}
	}
}

// Both streams of all ranks go to one pipe, as in weft run ... 2>&1 | cat.
func TestLinesOfRanksStayWhole(t *testing.T) {
	for _, label := range []bool{false, true} {
		args := []string{"run", "-n", "3", os.Args[0]}
		if label {
			args = []string{"run", "-n", "3", "-l", os.Args[0]}
		}
		out, err := weft(t, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%.1000s", err, out)
		}
		got := map[string]int{}
		for l := range strings.Lines(string(out)) {
			got[l]++
		}
		for _, stream := range []string{"out", "err"} {
			for i := range lines {
				l := line(stream, i)
				whole := got[l] == 3
				if label {
					whole = got["0: "+l] == 1 && got["1: "+l] == 1 && got["2: "+l] == 1
				}
				if !whole {
					t.Errorf("label %t: line %d of std%s did not come whole from each rank", label, i, stream)
				}
			}
		}
	}
}

func TestAFullDiskIsAnErrorOfEveryCommand(t *testing.T) {
	for _, args := range []string{"run -n 3 " + os.Args[0], "run -n 2 echo x", "run -h", "-h", "info", "--version"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := weft(t, strings.Fields(args)...)
		cmd.Stdout, cmd.Stderr = full, &stderr
		code := exitCode(t, cmd.Run())
		full.Close()
		if code != 1 || strings.Count(stderr.String(), "no space left on device") != 1 {
			t.Errorf("weft %s > /dev/full: exit code %d, %.1000q", args, code, stderr.String())
		}
	}
}

// Weft exits like any command of a shell's pipeline, but prints an error.
func TestAClosedPipeEndsTheJob(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := weft(t, "run", "-n", "2", "sh", "-c", "trap 'echo trapped >&2; exit 0' TERM; while :; do echo $WEFT_RANK; done")
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	spoke := map[string]bool{}
	for in := bufio.NewScanner(r); len(spoke) < 2 && in.Scan(); {
		spoke[in.Text()] = true
	}
	r.Close()
	code := exitCode(t, cmd.Wait())
	if code != 141 || strings.Count(stderr.String(), "broken pipe") != 1 || !strings.Contains(stderr.String(), "trapped") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// Ranks do not inherit weft's handling of SIGPIPE.
func TestRanksHaveTheSignalsOfAShell(t *testing.T) {
	out, err := weft(t, "run", "sh", "-c", "grep SigIgn /proc/self/status").Output()
	own, oerr := exec.Command("sh", "-c", "grep SigIgn /proc/self/status").Output()
	if err != nil || oerr != nil || string(out) != string(own) {
		t.Errorf("%q, %v, without weft %q, %v", out, err, own, oerr)
	}
}

func TestHelpNamesEveryVariable(t *testing.T) {
	for _, s := range setting.Variables() {
		if got, want := strings.Contains(variables(), "  "+s.Name), s.Kind != setting.Development; got != want {
			t.Errorf("%s is in the help: %t, want %t", s.Name, got, want)
		}
	}
}

// A job whose ranks would refuse the environment does not start.
func TestAWrongEnvironmentStartsNoJob(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"WEFT_FABRIK", "shm", "did you mean WEFT_FABRIC?"},
		{"WEFT_TCP_DEADLINE", "20", "such as 20s"},
		{"WEFT_FABRIC", "zzz", "unknown fabric"},
		{"WEFT_BOOT", "ssh", `the only one is "none"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			var stdout, stderr bytes.Buffer
			if code := run([]string{"run", "echo", "started"}, &stdout, &stderr); code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.name) || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, %q, %q", code, stdout.String(), stderr.String())
			}
			stdout.Reset()
			stderr.Reset()
			if code := run([]string{"info"}, &stdout, &stderr); code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("weft info: exit code %d, %q, %q", code, stdout.String(), stderr.String())
			}
		})
	}
	t.Setenv("WEFT_TEST_OF_MINE", "1")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"run", "sh", "-c", "echo $WEFT_TEST_OF_MINE"}, &stdout, &stderr); code != 0 || stdout.String() != "1\n" {
		t.Errorf("exit code %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

func TestVersionIsTheModulesOrTheRevision(t *testing.T) {
	build := func(main string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: main}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "c8e0015"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(unknown)"},
		{build("v1.2.3", revision), "v1.2.3"},
		{build("(devel)"), "(devel)"},
		{build("(devel)", revision), "c8e0015"},
		{build("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "c8e0015+dirty"},
		{build("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), "c8e0015"},
	} {
		if got := version(c.info); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
