package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/testkit/hosts"
	"github.com/weft-mpi/weft/mpi"
)

func init() {
	programs["run: ways"] = func(n int) error { return mpi.Run(n, playWays) }
	programs["run: talk"] = func(n int) error { return mpi.Run(n, playUntilTold) }
}

// playWays receives from everybody and prints which transport reaches whom.
func playWays(w *mpi.World) error {
	c := w.Comm()
	if err := talk(c, func(round int) bool { return round == 2*len(talkSizes) }); err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	var ways []string
	for p := range c.Size() {
		ways = append(ways, mpi.TransportOf(c, p))
	}
	fmt.Printf("rank %d on %s: %s\n", c.Rank(), name, strings.Join(ways, " "))
	return nil
}

// endVar names a file; once it is there, rank 0 ends playUntilTold.
const endVar = "WEFT_MPI_TEST_END"

// playUntilTold talks, and prints the rounds.
func playUntilTold(w *mpi.World) error {
	c := w.Comm()
	err := talk(c, func(round int) bool {
		fmt.Println("round", round)
		_, err := os.Stat(os.Getenv(endVar))
		return err == nil
	})
	if err == nil {
		fmt.Println("all rounds came to rank", c.Rank())
	}
	return err
}

// talkSizes are bodies of each protocol, in turns.
var talkSizes = []int{16, 900, 5_000, 30_000, 200_000}

// talk has every rank send to every other, round after round, and receive from any
// source: each one's rounds come in order, none is lost, none comes twice. Rank 0
// asks whether a round is the last, and says so in its message.
func talk(c *mpi.Comm, isLast func(round int) bool) error {
	in := make([]byte, talkSizes[len(talkSizes)-1])
	next := make([]int, c.Size()) // round of each rank's next message
	last := -1
	for round := 0; last < 0 || round <= last; round++ {
		body := pattern(talkSizes[round%len(talkSizes)], round+c.Rank())
		body[0] = 0
		if c.Rank() == 0 && isLast(round) {
			body[0], last = 1, round
		}
		var rs []mpi.Request
		for p := range c.Size() {
			if p == c.Rank() {
				continue
			}
			r, err := mpi.Isend(c, body, p, 1)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
		next[c.Rank()] = round + 1
		for behind(next, round) {
			st, err := mpi.Recv(c, in, mpi.AnySource, 1)
			if err != nil {
				return err
			}
			its := next[st.Source]
			next[st.Source]++
			want := pattern(talkSizes[its%len(talkSizes)], its+st.Source)
			if want[0] = in[0]; string(in[:st.Bytes]) != string(want) {
				return fmt.Errorf("rank %d has %d bytes from rank %d that are not its round %d", c.Rank(), st.Bytes, st.Source, its)
			}
			if in[0] == 1 {
				last = its
			}
		}
		if err := mpi.Waitall(rs, nil); err != nil {
			return err
		}
	}
	return nil
}

// behind reports whether a message of the round, or of one before, is to come.
func behind(next []int, round int) bool {
	for _, n := range next {
		if n <= round {
			return true
		}
	}
	return false
}

// onHosts has the launcher's ranks move to hosts before they begin, perHost of them
// to each.
func onHosts(k *hosts.Kit, perHost int) func(l *launch.Launch) {
	move := fmt.Sprintf(`exec %s in %s$((WEFT_RANK / %d)) "$0"`, k.Script, strings.TrimSuffix(k.Names[0], "0"), perHost)
	return func(l *launch.Launch) { l.Path, l.Args = "sh", []string{"-c", move, os.Args[0]} }
}

// wantWays wants every rank of a job of two hosts to reach the next by near and the
// others by far.
func wantWays(t *testing.T, k *hosts.Kit, out, near, far string) {
	t.Helper()
	for rank := range 4 {
		ways := []string{far, far, far, far}
		ways[rank/2*2], ways[rank/2*2+1] = near, near
		want := fmt.Sprintf("rank %d on %s: %s\n", rank, k.Names[rank/2], strings.Join(ways, " "))
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

func TestRanksOnHostsUseSharedMemoryWithinAndTCPBetween(t *testing.T) {
	k := hosts.Up(t, 2)
	for _, c := range []struct{ fabric, near, far string }{
		{"auto", "shm", "tcp"},
		{"shm+tcp", "shm", "tcp"},
		{"tcp", "tcp", "tcp"},
	} {
		t.Run(c.fabric, func(t *testing.T) {
			t.Setenv("WEFT_FABRIC", c.fabric)
			out, err := program(t, "run: ways", 4, 4, onHosts(k, 2))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			wantWays(t, k, out, c.near, c.far)
		})
	}
}

// rounds is the output of playUntilTold's rank 0, as it comes.
type rounds struct {
	mu   sync.Mutex
	said strings.Builder
	last int // the round that was printed last
}

func (r *rounds) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(p), "round "))); err == nil {
		r.last = n
	} else {
		r.said.Write(p)
	}
	return len(p), nil
}

func (r *rounds) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// await waits for so many more rounds, unless the job ends before.
func (r *rounds) await(more int, ended <-chan error) error {
	past := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last
	}
	return awaitValue(past()+more, past, ended)
}

var errTooLong = errors.New("it takes too long")

// awaitValue waits until a value has grown. It pauses between two looks, since the
// ranks need the processor.
func awaitValue(least int, value func() int, ended <-chan error) error {
	for end := time.Now().Add(patience); value() < least; time.Sleep(time.Millisecond) {
		select {
		case err := <-ended:
			return fmt.Errorf("the job has ended: %w", err)
		default:
		}
		if time.Now().After(end) {
			return errTooLong
		}
	}
	return nil
}

// retransmitted is how many segments a host has sent again (RetransSegs,
// proc(5): /proc/net/snmp).
func retransmitted(t *testing.T, k *hosts.Kit, host string) int {
	b, err := os.ReadFile(filepath.Join(k.Net(host), "snmp"))
	if err != nil {
		t.Error(err)
	}
	var names, values []string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "Tcp:" {
			names, values = values, f // the names come first
		}
	}
	if i := slices.Index(names, "RetransSegs"); i >= 0 {
		v, err := strconv.Atoi(values[i])
		if err == nil {
			return v
		}
	}
	t.Errorf("no RetransSegs in %q", b)
	return 0
}

// A network that fails for a moment costs time and nothing else.
func TestAMomentWithoutNetworkLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name       string
		begin, end func(k *hosts.Kit)
	}{
		{"cut", func(k *hosts.Kit) { k.Cut(k.Names[1]) }, func(k *hosts.Kit) { k.Heal(k.Names[1]) }},
		{"dropped", func(k *hosts.Kit) { k.Drop(k.Names[0], k.Names[1]) }, func(k *hosts.Kit) { k.Undrop(k.Names[0], k.Names[1]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := hosts.Up(t, 2)
			t.Setenv("WEFT_FABRIC", "shm+tcp")
			t.Setenv("WEFT_TCP_DEADLINE", "0") // a machine that is busy may take long to heal the link
			file := t.TempDir() + "/end"
			t.Setenv(endVar, file)
			out, ended := &rounds{last: -1}, make(chan error, 1)
			go func() {
				_, err := program(t, "run: talk", 4, 4, onHosts(k, 2), func(l *launch.Launch) { l.Stdout, l.Stderr = out, out })
				ended <- err
			}()
			steps := errors.Join(
				out.await(20, ended),
				func() error {
					before := retransmitted(t, k, k.Names[0]) + retransmitted(t, k, k.Names[1])
					c.begin(k)
					defer c.end(k)
					return awaitValue(before+2, func() int {
						return retransmitted(t, k, k.Names[0]) + retransmitted(t, k, k.Names[1])
					}, ended)
				}(),
				out.await(20, ended),
			)
			if steps != nil {
				t.Fatalf("%v\n%s", steps, out.text())
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil || strings.Count(out.text(), "all rounds came to rank ") != 4 {
				t.Errorf("%v\n%s", err, out.text())
			}
		})
	}
}

func TestHydraStartsRanksOnHosts(t *testing.T) {
	mpiexec := installed(t, "mpiexec.hydra")
	k := hosts.Up(t, 2)
	ssh := strings.TrimSuffix(k.Script, "hosts") + "hosts.d/ssh"
	for _, fabric := range []string{"auto", "shm+tcp"} {
		t.Run(fabric, func(t *testing.T) {
			line := k.Command(k.Names[0], mpiexec, "-launcher", "ssh", "-launcher-exec", ssh,
				"-hosts", strings.Join(k.Names, ","), "-ppn", "2", "-n", "4", os.Args[0])
			cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
			cmd.Env = append(programEnv("run: ways", 4), "WEFT_FABRIC="+fabric)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			wantWays(t, k, string(out), "shm", "tcp")
		})
	}
}
