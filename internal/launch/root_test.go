package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi/cause"
)

// freePort is a port that nobody listens at, of those that the kernel gives to nobody
// by itself.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(10_000 + rand.IntN(5_000))
		if ln, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// secretFile is a file with a secret.
func secretFile(t *testing.T, secret string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

var aSecret = strings.Repeat("s3", 16)

// scatter starts n ranks of a role as a launcher does that only sets variables, the last
// one first, and returns their outputs and exit codes when all have exited.
func scatter(t *testing.T, n int, role string, env func(rank int) []string) (outs []string, codes []int) {
	t.Helper()
	cmds, bufs := make([]*exec.Cmd, n), make([]safeBuffer, n)
	for rank := n - 1; rank >= 0; rank-- {
		cmd := exec.CommandContext(deadline(t), os.Args[0])
		cmd.Env = append(roleEnv(role), env(rank)...)
		cmd.Stdout, cmd.Stderr = &bufs[rank], &bufs[rank]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds[rank] = cmd
	}
	for rank, cmd := range cmds {
		cmd.Wait()
		code := cmd.ProcessState.ExitCode()
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
			code = 128 + int(ws.Signal())
		}
		outs, codes = append(outs, bufs[rank].String()), append(codes, code)
	}
	return outs, codes
}

func TestRanksMeetAtRankZero(t *testing.T) {
	secret := secretFile(t, aSecret)
	for _, c := range []struct {
		name       string
		rank, size string // variables
		host       string
		secret     bool
	}{
		{"one host", envRank, envSize, "localhost", false},
		{"with a secret", envRank, envSize, "127.0.0.1", true},
		{"by its name", envRank, envSize, "localhost", true},
		{"Open MPI's variables", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "127.0.0.1", true},
		{"Slurm's variables", "SLURM_PROCID", "SLURM_NTASKS", "127.0.0.1", true},
	} {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint(c.name, n), func(t *testing.T) {
				root := net.JoinHostPort(c.host, freePort(t))
				outs, codes := scatter(t, n, "greet", func(rank int) []string {
					env := []string{fmt.Sprint(c.rank, "=", rank), fmt.Sprint(c.size, "=", n), envRoot + "=" + root}
					if c.secret {
						env = append(env, envSecret+"="+secret)
					}
					return env
				})
				if strings.Trim(fmt.Sprint(codes), "[0 ]") != "" {
					t.Fatal(codes, outs)
				}
				checkGreetings(t, strings.Join(outs, ""), n, LauncherRoot)
			})
		}
	}
}

func TestRanksOfARootHearOfDeaths(t *testing.T) {
	for _, how := range []string{"signal", "no bye"} {
		root := "localhost:" + freePort(t)
		outs, _ := scatter(t, 3, "survive", func(rank int) []string {
			return []string{fmt.Sprint(envRank, "=", rank), envSize + "=3", envRoot + "=" + root, dieVar + "=" + how}
		})
		want := "lost 1: launch: rank 1 is gone: its connection to rank 0 has ended\n"
		if outs[0] != want || outs[2] != want {
			t.Errorf("%s: %q, want %q", how, outs, want)
		}
	}
}

// pipeVar names a pipe by which the ranks of a play tell rank 0 that they have joined.
const pipeVar = "BOOT_TEST_PIPE"

// playRootDies: rank 0 dies once the two others have joined, and they hear of it.
func playRootDies() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	pipe, err := os.OpenFile(os.Getenv(pipeVar), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if j.Rank == 0 {
		if _, err := io.ReadFull(pipe, make([]byte, 2)); err != nil {
			return err
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if _, err := pipe.Write([]byte{1}); err != nil {
		return err
	}
	e := <-j.Events()
	fmt.Printf("lost %d\n", e.Rank)
	return nil
}

func TestTheDeathOfRankZeroIsHeardOf(t *testing.T) {
	secret, root, pipe := secretFile(t, aSecret), "127.0.0.1:"+freePort(t), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	outs, codes := scatter(t, 3, "root dies", func(rank int) []string {
		return []string{fmt.Sprint(envRank, "=", rank), envSize + "=3", envRoot + "=" + root, envSecret + "=" + secret, pipeVar + "=" + pipe}
	})
	if outs[1] != "lost 0\n" || outs[2] != "lost 0\n" || fmt.Sprint(codes) != "[137 0 0]" {
		t.Errorf("%v, %q", codes, outs)
	}
}

// playAbortAt: the rank in BOOT_TEST_DIE aborts the job, and exits.
func playAbortAt() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if fmt.Sprint(j.Rank) != os.Getenv(dieVar) {
		time.Sleep(3 * patience)
	}
	if err := j.Abort(7, "because"); err != nil {
		return err
	}
	os.Exit(7)
	return nil
}

func TestAnAbortEndsTheRanksOfARoot(t *testing.T) {
	for _, aborts := range []int{0, 2} {
		root := "localhost:" + freePort(t)
		outs, codes := scatter(t, 3, "abort at", func(rank int) []string {
			return []string{fmt.Sprint(envRank, "=", rank), envSize + "=3", envRoot + "=" + root, fmt.Sprint(dieVar, "=", aborts)}
		})
		for rank, code := range codes {
			want := 128 + int(syscall.SIGTERM)
			if rank == aborts {
				want = 7
			}
			if code != want || rank != aborts && !strings.Contains(outs[rank], "another rank ends the job: because") {
				t.Errorf("rank %d exits with %d, want %d: %q", rank, code, want, outs[rank])
			}
		}
	}
}

// Rank 0 ends after the others, who hear of the abort from it.
func TestTheRootOfAnAbortedJobEndsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(closedListener{}, 3, nil)
		var conns [3]net.Conn // as the ranks have them: a frame waits until it is read
		for rank := range conns {
			mine, its := net.Pipe()
			conns[rank] = mine
			go r.serve(its, rank)
		}
		ended := false
		end := func(why string) { ended = why == "because" }
		first := newClient(conns[0], 3, func(why string) { go r.endLast(why, end) })
		aborts := newClient(conns[2], 3, func(why string) { t.Error(why) })
		for rank, c := range map[int]*client{0: first, 2: aborts} {
			if _, err := c.hello(t.Context(), rank); err != nil {
				t.Fatal(err)
			}
		}
		if kind, _, err := readFrame(answered(t, conns[1], 1), 3); kind != kindWelcome || err != nil {
			t.Fatalf("kind %d, %v", kind, err)
		}
		if err := aborts.abort(7, "because"); err != nil {
			t.Fatal(err)
		}
		conns[2].Close()
		synctest.Wait()
		if ended {
			t.Error("rank 0 has ended before rank 1 has heard of the abort")
		}
		if kind, _, err := readFrame(conns[1], 3); kind != kindAbort || err != nil {
			t.Errorf("rank 1 hears kind %d, %v", kind, err)
		}
		conns[1].Close()
		time.Sleep(2 * eofPatience)
		synctest.Wait()
		if !ended {
			t.Error("rank 0 has not ended")
		}
		conns[0].Close()
		time.Sleep(2 * eofPatience)
	})
}

// closedListener is a listener that has been closed.
type closedListener struct{ net.Listener }

func (closedListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (closedListener) Close() error              { return nil }

func TestARootRefusesStrangers(t *testing.T) {
	at := &rootAddress{text: "x", host: "127.0.0.1", port: freePort(t), secret: []byte(aSecret)}
	ln, err := at.listen()
	if err != nil {
		t.Fatal(err)
	}
	r := newRoot(ln, 3, at.admit(3))
	defer r.close(0)
	other := *at
	other.secret = []byte(strings.Repeat("s4", 16))
	for _, c := range []struct {
		at         *rootAddress
		rank, size int
	}{{&other, 1, 3}, {at, 1, 4}, {at, 3, 3}, {at, 0, 3}} {
		if _, err := c.at.dial(t.Context(), c.rank, c.size); !errors.Is(err, errStranger) {
			t.Errorf("rank %d of %d: %v", c.rank, c.size, err)
		}
	}
	if len(r.missing()) != 3 {
		t.Errorf("missing: %v", r.missing())
	}
	conn, err := at.dial(t.Context(), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if kind, p, err := readFrame(answered(t, conn, 2), 3); kind != kindWelcome || err != nil {
		t.Errorf("kind %d %q, %v", kind, p, err)
	}
	twin, err := at.dial(t.Context(), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer twin.Close()
	if kind, p, err := readFrame(twin, 3); kind != kindFail || !strings.Contains(string(p), "two processes say that they are rank 2") {
		t.Errorf("kind %d %q, %v", kind, p, err)
	}
}

// answered sends a hello.
func answered(t *testing.T, conn net.Conn, rank int) net.Conn {
	t.Helper()
	if _, err := conn.Write(appendFrame(nil, kindHello, hello{uint32(rank), 3}.append(nil))); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestRanksThatDoNotComeAreNamed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), enough/5)
	defer cancel()
	_, err := joinRoot(ctx, &rootAddress{text: "localhost:1", host: "localhost", port: freePort(t)}, 0, 3)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "these ranks have not come: 1, 2") {
		t.Error(err)
	}
	_, err = joinRoot(ctx, &rootAddress{text: "localhost:1", host: "localhost", port: freePort(t)}, 1, 3)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestRootsThatCanNotBe(t *testing.T) {
	short := secretFile(t, "short")
	for _, c := range []struct{ root, secret, says string }{
		{"node1:7077", "", "there is no secret by which the ranks know one another; set WEFT_SECRET_FILE"},
		{"10.0.0.1:7077", "", "there is no secret"},
		{"node1", "", "as in node1:7077"},
		{"node1:0", "", "as in node1:7077"},
		{"node1:http", "", "as in node1:7077"},
		{":7077", "", "as in node1:7077"},
		{"node1:7077", "/no/such/file", "no such file or directory; make it by: openssl rand -hex 32"},
		{"node1:7077", short, "a secret of 5 bytes, the least is 32"},
	} {
		env := map[string]string{envRoot: c.root, envSecret: c.secret}
		_, err := rootFrom(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		if _, ok := errors.AsType[*cause.EnvError](err); !ok || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %s: %v, want %q", c.root, c.secret, err, c.says)
		}
	}
}

// Launchers that speak no protocol of Weft's.
func TestOpenMPIAndSlurmStartRanksThatMeetAtARoot(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	env := func() []string {
		return roleEnv("greet", envRoot+"=127.0.0.1:"+freePort(t), envSecret+"="+secretFile(t, aSecret))
	}
	t.Run("Open MPI", func(t *testing.T) {
		cmd := exec.CommandContext(deadline(t), need(t, "mpirun.openmpi"), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4", os.Args[0])
		cmd.Env = env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		checkGreetings(t, string(out), 4, LauncherRoot)
	})
	t.Run("Slurm", func(t *testing.T) {
		out, err := slurm(t, env(), "srun", "-N2", "-n4", "--mpi=none", os.Args[0])
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		checkGreetings(t, out, 4, LauncherRoot)
	})
}
