package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/hosts"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// built is weft as users have it: sshd passes on no environment, by which the test binary
// would know what to be.
func built(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "weft")
	if out, err := exec.Command("go", "build", "-o", name, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return name
}

// The whole way: from a host, which is here, to others over ssh.
func TestRunStartsRanksOnHosts(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	k := hosts.Up(t, 3)
	ssh, weft := k.SSH(), built(t)
	list := filepath.Join(t.TempDir(), "hosts")
	text := fmt.Sprintf("# the kit\n%s slots=1\n%s:2 # MPICH's\n%s slots=8 max_slots=1\n", k.Names[0], k.Names[1], k.Names[2])
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// ssh is to be called on the first host, where weft runs.
	run := func(args ...string) *exec.Cmd {
		args = append([]string{weft, "run", "--ssh", strings.Join(ssh[3:], " ")}, args...)
		argv := k.Command(k.Names[0], args...)
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "WEFT_TEST_OF_MINE=it's mine")
		return cmd
	}
	script := `read line; echo "$(hostname) $WEFT_RANK/$WEFT_SIZE $WEFT_TEST_OF_MINE $0 $(pwd) $line"; exit $((WEFT_RANK == 3 ? 7 : 0))`
	cmd := run("--hostfile", list, "-l", "--wdir", "/tmp", "sh", "-c", script, "a b")
	var stderr bytes.Buffer
	cmd.Stderr, cmd.Stdin = &stderr, strings.NewReader("input\n")
	out, err := cmd.Output()
	lines := slices.Sorted(strings.Lines(string(out)))
	var want []string
	for rank, host := range []int{0, 1, 1, 2} {
		line := ""
		if rank == 0 {
			line = "input"
		}
		want = append(want, fmt.Sprintf("%d: %s %d/4 it's mine a b /tmp %s\n", rank, k.Names[host], rank, line))
	}
	if !slices.Equal(lines, want) || exitCode(t, err) != 7 || !strings.Contains(stderr.String(), "rank 3 exited with code 7") {
		t.Errorf("%v, %q\n%swant\n%s", err, stderr.String(), lines, want)
	}

	// Ctrl-C.
	cmd = run("--hosts", strings.Join(k.Names, ",")+":2", "sh", "-c", `echo $$; exec sleep 1000`)
	r, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	in, pids := bufio.NewScanner(r), []int{}
	for len(pids) < 4 && in.Scan() {
		pid := 0
		fmt.Sscan(in.Text(), &pid)
		pids = append(pids, pid)
	}
	cmd.Process.Signal(syscall.SIGINT)
	if code := exitCode(t, cmd.Wait()); code != 130 {
		t.Errorf("exit code %d after SIGINT", code)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}

	for _, c := range []struct {
		args, says string
		code       int
	}{
		{"--hosts " + k.Names[1] + " --agent /no/such/weft true", "the host needs weft at the path /no/such/weft", 1},
		{"--hosts " + k.Names[0] + " --wdir /none true", "/none: no such file", 1},
		{"--hosts no-such-host true", "host no-such-host: its agent has ended (ssh: exit status 255)", 1},
		{"--hosts " + k.Names[1] + ":2 -n 3 true", "launch 3 ranks: the limit is 2", 2},
	} {
		cmd := run(strings.Fields(c.args)...)
		out, err := cmd.CombinedOutput()
		if code := exitCode(t, err); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("weft run %s: exit code %d, %s", c.args, code, out)
		}
	}
}

func TestHostsThatCanNotBe(t *testing.T) {
	list := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(list, []byte("a slots=2\nb slots=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"--hosts a: true":                `--hosts a:: host 1 of the list: "a:": "" slots`,
		"--hosts -x true":                "begins like an option",
		"--hosts a --hostfile b true":    "name the hosts once",
		"--hostfile /no/such/file true":  "no such file",
		"--hostfile " + list + " true":   list + `:2: "slots=x"`,
		"--hosts a --ssh= true":          "--ssh has an empty value",
		"--hosts a --deadline -1s true":  "--deadline -1s",
		"--launcher rsh true":            "use auto, ssh, srun, mpiexec or none",
		"--launcher none --hosts a true": "and hosts are named",
		"--launcher srun true":           "no hosts are named, and this is no job",
		"--hosts localhost:2 -n 3 true":  "the hosts have no more slots",
	} {
		var stdout, stderr bytes.Buffer
		code := run(append([]string{"run"}, strings.Fields(args)...), &stdout, &stderr)
		if code == 0 || !strings.Contains(stderr.String(), says) {
			t.Errorf("weft run %s: exit code %d, %q, want %q", args, code, stderr.String(), says)
		}
	}
}

// last is a script that says what a rank is, and whose last rank fails with a code once
// the others have spoken: a failure ends the job.
func last(t *testing.T, say string, rank, code int) string {
	return fmt.Sprintf(`%s; cd %s; : >$WEFT_RANK
if [ $WEFT_RANK = %d ]; then while [ $(ls | wc -l) -le %d ]; do sleep 0.1; done; exit %d; fi`, say, t.TempDir(), rank, rank, code)
}

// The agents are started by mpiexec of MPICH, on two hosts that are this one, and ranks
// are none of its own.
func TestMpiexecStartsAgents(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	if _, err := exec.LookPath(mpiexec); err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("%v, and WEFT_CI=1 says that it must be there", err)
		}
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), built(t), "run", "--launcher", "mpiexec", "--hosts", "localhost:2,127.0.0.2:1", "-l",
		"sh", "-c", last(t, `read line; echo "$WEFT_RANK/$WEFT_SIZE $PMI_RANK$PMI_FD $line"`, 2, 5))
	cmd.Env = append(os.Environ(), "HYDRA_LAUNCHER=fork")
	cmd.Stdin = strings.NewReader("in\n")
	out, err := cmd.Output()
	if got := slices.Sorted(strings.Lines(string(out))); exitCode(t, err) != 5 || !slices.Equal(got, []string{"0: 0/3  in\n", "1: 1/3  \n", "2: 2/3  \n"}) {
		t.Errorf("%v, %q", err, got)
	}
}

// In a job of Slurm srun starts the agents, without being asked for, on all nodes.
func TestSrunStartsAgents(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	weft := built(t)
	script := last(t, `echo "$WEFT_RANK/$WEFT_SIZE on $SLURMD_NODENAME"`, 3, 6)
	out, err := slurm(t, "salloc", "--quiet", "-N2", "--ntasks-per-node=2", weft, "run", "-l", "sh", "-c", script)
	for _, want := range []string{"0: 0/4 on n0\n", "1: 1/4 on n0\n", "2: 2/4 on n1\n", "3: 3/4 on n1\n", "rank 3 exited with code 6"} {
		if !strings.Contains(out, want) || exitCode(t, err) != 6 {
			t.Errorf("nothing says %q: %v\n%s", want, err, out)
		}
	}
}

// deploy/slurm.sh is a job as it is.
func TestTheBatchScriptRunsUnderSlurm(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	weft, dir := built(t), t.TempDir()
	out := filepath.Join(dir, "out")
	said, err := slurm(t, "sbatch", "--quiet", "--wait", "--chdir="+dir, "--output="+out, "--export=ALL,WEFT="+weft,
		filepath.Join("..", "..", "deploy", "slurm.sh"), "sh", "-c", `echo "$WEFT_RANK/$WEFT_SIZE on $SLURMD_NODENAME"`)
	b, rerr := os.ReadFile(out)
	want := []string{"0: 0/4 on n0\n", "1: 1/4 on n0\n", "2: 2/4 on n1\n", "3: 3/4 on n1\n"}
	if got := slices.Sorted(strings.Lines(string(b))); err != nil || rerr != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, %s\n%q, want %q", err, rerr, said, got, want)
	}
}

// slurm runs a command on the cluster of scripts/slurm, or skips the test where that
// can't run. With WEFT_CI=1 that is a failure.
func slurm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "slurm"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
	out, err := cmd.CombinedOutput()
	if code := exitCode(t, err); code == 77 && os.Getenv("WEFT_CI") == "1" {
		t.Fatalf("WEFT_CI=1 says that Slurm must run: %s", out)
	} else if code == 77 {
		t.Skipf("%s", out)
	}
	return string(out), err
}
