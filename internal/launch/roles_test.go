package launch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// rankNumber is the rank that the launcher's environment names.
func rankNumber() int {
	n, _ := strconv.Atoi(os.Getenv(envRank))
	return n
}

func affinity() string {
	cores, err := AllowedCores()
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(fmt.Sprint(cores), " ", ",")
}

// playGreet exchanges names over three rounds and prints what it knows.
func playGreet() error {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return err
	}
	for round := range 3 {
		// Different lengths: one is 0, some take several PMI values.
		name := func(rank int) string { return strings.Repeat(fmt.Sprintf("%d/%d ", rank, round), 900*rank) }
		all, err := j.Exchange(ctx, []byte(name(j.Rank)))
		if err != nil {
			return err
		}
		for i, got := range all {
			if string(got) != name(i) {
				return fmt.Errorf("round %d: rank %d brought %d bytes, want %d", round, i, len(got), len(name(i)))
			}
		}
		if len(all) != j.Size {
			return fmt.Errorf("%d of %d came", len(all), j.Size)
		}
	}
	if fmt.Sprint(j.Hosts) != fmt.Sprint(make([]uint32, j.Size)) {
		return fmt.Errorf("%d ranks of one host are on the hosts %v", j.Size, j.Hosts)
	}
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		return err
	}
	if _, err := j.Exchange(ctx, nil); !errors.Is(err, ErrClosed) {
		return fmt.Errorf("exchange after close: %v", err)
	}
	if _, err := Discover(ctx); !errors.Is(err, cause.ErrDiscovered) {
		return fmt.Errorf("second discover: %v", err)
	}
	fmt.Printf("rank=%d size=%d id=%s key=%x local=%v cores=%d over=%v launcher=%s procs=%d affinity=%s\n",
		j.Rank, j.Size, j.ID, j.Key[:4], strings.ReplaceAll(fmt.Sprint(j.LocalRanks), " ", ","),
		j.Cores, j.Oversubscribed(), j.Launcher, runtime.GOMAXPROCS(0), affinity())
	return nil
}

// playDiscover prints what Discover says.
func playDiscover() error {
	j, err := Discover(context.Background())
	if err != nil {
		fmt.Println("error:", err)
		if _, ok := errors.AsType[*cause.EnvError](err); ok {
			fmt.Println("typed")
		}
		return nil
	}
	fmt.Printf("rank %d of %d by %s\n", j.Rank, j.Size, j.Launcher)
	return j.Close()
}

func playKilled() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if _, err := j.Exchange(context.Background(), nil); err != nil {
		return err
	}
	if j.Rank == 1 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return playHang()
}

// playEarly: rank 0 exits with code 0 and never joins.
func playEarly() error {
	if rankNumber() == 0 {
		return nil
	}
	return wantNoJob(0, "exited with code 0")
}

// playEarlyCode: rank 1 exits with code 3 and never joins.
func playEarlyCode() error {
	if rankNumber() == 1 {
		os.Exit(3)
	}
	return wantNoJob(1, "exited with code 3")
}

// wantNoJob returns an error unless there is no job to join, for want of a rank.
func wantNoJob(rank int, reason string) error {
	_, err := Discover(context.Background())
	if err := checkLost(err, rank, reason); err != nil {
		return err
	}
	fmt.Println("told")
	return nil
}

func checkLost(err error, rank int, reason string) error {
	if lost, ok := errors.AsType[*cause.LostError](err); !ok || lost.Rank != rank || !strings.Contains(lost.Reason, reason) {
		return fmt.Errorf("%v, want rank %d lost: %s", err, rank, reason)
	}
	return nil
}

// playClosed: rank 0 joins and leaves without the exchange.
func playClosed() error {
	if rankNumber() != 0 {
		return wantLost(0, "has left the job in order")
	}
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	return j.Close()
}

// playFailed: rank 1 exits with code 3 before the exchange.
func playFailed() error {
	if rankNumber() == 1 {
		if _, err := Discover(context.Background()); err != nil {
			return err
		}
		os.Exit(3)
	}
	return wantLost(1, "exited with code 3")
}

// wantLost joins the job and returns an error unless the exchange fails as it
// should, twice.
func wantLost(rank int, reason string) error {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		_, err = j.Exchange(ctx, nil)
		if err := checkLost(err, rank, reason); err != nil {
			return fmt.Errorf("exchange: %w", err)
		}
	}
	fmt.Println("told")
	return j.Close()
}

func playDeserter() error {
	_, err := Discover(context.Background())
	return err
}

func playGarbage() error {
	if rankNumber() == 1 {
		return rawFrames([]byte("cmd=init pmi_version=1\n"))
	}
	return wantNoJob(1, "sent garbage")
}

func playVersion() error {
	b := appendFrame(nil, kindHello, hello{0, 1}.append(nil))
	b[2] = 77
	return rawFrames(b)
}

func playTwins() error {
	b := appendFrame(nil, kindHello, hello{0, 1}.append(nil))
	return rawFrames(append(b, b...))
}

func playImpostor() error {
	return rawFrames(appendFrame(nil, kindHello, hello{5, 9}.append(nil)))
}

// playPlaces prints where the ranks are.
func playPlaces() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: hosts %v local %v cores %d\n", j.Rank, j.Hosts, j.LocalRanks, j.Cores)
	return j.Close()
}

// playLate offers bytes to a round that has not begun.
func playLate() error {
	b := appendFrame(nil, kindHello, hello{0, 1}.append(nil))
	return rawFrames(appendFrame(b, kindOffer, appendOffer(nil, 3, nil)))
}

// rawFrames writes bytes to the launcher, prints the error that it sends back,
// and hangs until it is terminated.
func rawFrames(b []byte) error {
	conn, err := inheritedConn(os.LookupEnv, envFD)
	if err != nil {
		return err
	}
	if _, err := conn.Write(b); err != nil {
		return err
	}
	for {
		kind, p, err := readFrame(conn, 1)
		if err != nil {
			return err
		}
		if kind == kindFail {
			fmt.Println(parseFail(p, 1))
			return playHang()
		}
	}
}

// playLines writes lines in pieces.
func playLines() error {
	for i := range 50 {
		fmt.Printf("rank %d ", rankNumber())
		fmt.Printf("line %d ", i)
		fmt.Println("end")
	}
	fmt.Printf("rank %d last", rankNumber())
	return nil
}

const (
	longLines = 40
	hugeLine  = 2*maxLine + maxLine/2
)

// longLine is a line of playLong, of at least length bytes.
func longLine(name string, number, length int) string {
	return fmt.Sprintf("%s %d %d ", name, number, length) + strings.Repeat(string(rune('a'+number%26)), length) + " end\n"
}

// playLong writes long lines on both streams at once, some of them in pieces.
func playLong() error {
	var streams sync.WaitGroup
	errs := make([]error, 2)
	for i, f := range []*os.File{os.Stdout, os.Stderr} {
		streams.Go(func() {
			name := fmt.Sprintf("rank%d-%s", rankNumber(), []string{"out", "err"}[i])
			for k := range longLines {
				line := longLine(name, k, k*k*100)
				half := 0
				if k%3 == 0 {
					half = len(line) / 2
					_, errs[i] = f.WriteString(line[:half])
				}
				if _, err := f.WriteString(line[half:]); err != nil {
					errs[i] = err
				}
			}
		})
	}
	streams.Wait()
	return errors.Join(errs...)
}

// playHuge writes one line that is too long to be kept in one piece.
func playHuge() error {
	_, err := os.Stdout.WriteString(strings.Repeat("h", hugeLine) + "\n")
	return err
}

// playPrompt asks for a name.
func playPrompt() error {
	if rankNumber() != 0 {
		return nil
	}
	fmt.Print("name? ")
	name := ""
	if _, err := fmt.Scan(&name); err != nil {
		return err
	}
	fmt.Println("hello", name)
	return nil
}

// playChatter writes until it is stopped.
func playChatter() error {
	for {
		if _, err := fmt.Println("rank", rankNumber(), "goes on and on"); err != nil {
			return err
		}
	}
}

func playCat() error {
	_, err := io.Copy(os.Stdout, os.Stdin)
	return err
}

func playHang() error {
	fmt.Println("hanging", os.Getpid())
	time.Sleep(3 * patience) // exits by itself if a test leaves it behind
	return nil
}

func playStubborn() error {
	if rankNumber() == 0 {
		os.Exit(4)
	}
	signal.Ignore(syscall.SIGTERM)
	return playHang()
}

// playParent leaves a process behind that holds its output.
func playParent() error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=hang")
	cmd.Stderr = os.Stdout
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	fmt.Print(line)
	return err
}

// playEnv prints what a program started by a rank sees.
func playEnv() error {
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "WEFT_") && !strings.HasPrefix(kv, "WEFT_CI=") || strings.HasPrefix(kv, "PMI_") {
			fmt.Println("env", kv)
		}
	}
	return printSockets()
}

// playProcess prints the parts of the process that a launcher may change: its
// environment and the timer slack of its first thread.
func playProcess() error {
	for _, kv := range os.Environ() {
		fmt.Printf("%q\n", kv)
	}
	slack, err := os.ReadFile("/proc/self/timerslack_ns")
	fmt.Printf("slack %s\n", strings.TrimSpace(string(slack)))
	return err
}

func printSockets() error {
	names, err := filepath.Glob("/proc/self/fd/*")
	for _, n := range names {
		if to, err := os.Readlink(n); err == nil && strings.HasPrefix(to, "socket:") {
			fmt.Println("socket", filepath.Base(n))
		}
	}
	return err
}

// playFamily prints its sockets, joins, and has a child print what is left.
func playFamily() error {
	if err := printSockets(); err != nil {
		return err
	}
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=env")
	out, err := cmd.Output()
	fmt.Printf("child: %q\n", out)
	return errors.Join(err, j.Close())
}

// playLauncher is a launcher of ranks that hang, to be killed, or of ranks of
// the role in BOOT_TEST_LAUNCH.
func playLauncher() error {
	if os.Getenv(envFD) != "" {
		return errors.New("a launcher started as a rank of its own kind: that would not end")
	}
	role := cmp.Or(os.Getenv("BOOT_TEST_LAUNCH"), "hang")
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv(role), Stdout: os.Stdout}
	return l.Run(context.Background())
}
