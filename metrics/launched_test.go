package metrics_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// rankVar makes the test binary a rank.
const rankVar = "TEST_OF_METRICS_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(rankVar) == "" {
		os.Exit(m.Run())
	}
	if err := launched(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// launched is a rank that does the work of the tests, and ends when rank 0's input does.
func launched() error {
	w, err := mpi.Init(context.Background())
	if err != nil {
		return err
	}
	if err := work(w); err != nil {
		return err
	}
	if w.Comm().Rank() == 0 {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	}
	return w.Finalize()
}

// output is what a command has said so far.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A Prometheus that scrapes weft run knows what the ranks, which are processes, have done.
func TestPrometheusScrapesALaunchedJob(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	needs(t, "prometheus")
	weft := filepath.Join(t.TempDir(), "weft")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", weft, "../cmd/weft").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := filepath.Join(t.TempDir(), "weft.prom")
	cmd := exec.Command(weft, "run", "-n", fmt.Sprint(ranks), "--metrics", ":0", "--metrics-file", file, os.Args[0])
	cmd.Env = append(os.Environ(), rankVar+"=1", "GORACE=atexit_sleep_ms=0")
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	target, served := "", regexp.MustCompile(`weft: metrics at http://(\S+)/metrics\n`)
	for target == "" {
		if m := served.FindStringSubmatch(said.String()); m != nil {
			target = m[1]
		}
		select {
		case err := <-ended:
			t.Fatalf("%v: %s", err, said)
		default:
		}
	}
	p := startPrometheus(t, target)
	for _, c := range []struct{ query, want string }{
		{`up{job="weft"}`, "1"},
		{`weft_ranks`, "2"},
		{`sum(weft_up)`, "2"},
		{`sum(weft_coll_calls_total{op="Allreduce",rank="0"})`, fmt.Sprint(allreduces)},
		{`sum(weft_coll_calls_total{op="Iallreduce"})`, fmt.Sprint(ranks * begunRounds)},
		{`sum(weft_part_rounds_total{direction="received",rank="1"})`, fmt.Sprint(partRounds)},
		{`sum(weft_message_size_bytes_bucket{rank="0",direction="sent",transport="shm",le="1.048576e+06"}) - sum(weft_message_size_bytes_bucket{rank="0",direction="sent",transport="shm",le="262144"})`, fmt.Sprint(longMessages)},
		{`sum(weft_bytes_total{rank="0",direction="sent"}) >= bool ` + fmt.Sprint(longMessages*longBytes), "1"},
		{`count({__name__=~"weft_.*",rank="0"}) <= bool 400`, "1"},
		{`count(ALERTS{alertname="WeftPeerDied"}) or vector(0)`, "0"},
	} {
		p.becomes(t, c.query, c.want)
	}
	in.Close()
	if err := <-ended; err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	p.becomes(t, `up{job="weft"}`, "0")
	b, err := os.ReadFile(file)
	if want := fmt.Sprintf(`op="Allreduce",rank="1"} %d`, allreduces); err != nil || !strings.Contains(string(b), "\nweft_up{rank=\"1\"} 0\n") || !strings.Contains(string(b), want) {
		t.Errorf("%v, %s is not in:\n%s", err, want, b)
	}
}
