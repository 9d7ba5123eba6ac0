package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// play is the environment variable that makes the test binary one of the
// programs of a comparison; its value says which.
const play = "COMPARE_TEST_PLAY"

func TestMain(m *testing.M) {
	if part := os.Getenv(play); part != "" {
		os.Exit(act(part))
	}
	// Under -race a program sleeps for a second at exit, and a test runs many.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// act plays a program that prints an OSU table, or fails to.
func act(part string) int {
	kind, arg, _ := strings.Cut(part, ":")
	switch kind {
	case "latency":
		fmt.Println("some launcher says hello\n\n# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)")
		for _, n := range []int{1, 2, 4} {
			fmt.Printf("%-10d%18.4f\n", n, scale(arg)*float64(n))
		}
	case "rates":
		fmt.Println("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 1 ] [ window size: 64 ]\n# Size                  MB/s        Messages/s")
		fmt.Printf("%-10d%18.2f%18.2f\n%-10d%18.2f%18.2f\n", 1, 2*scale(arg), 2e6*scale(arg), 8192, 9000*scale(arg), 1e6*scale(arg))
	case "old":
		fmt.Println("# OSU MPI Latency Test v7.1\n# Size          Latency (us)\n# Datatype: MPI_CHAR.\n1 0.50")
	case "fail":
		fmt.Println("# Size       Avg Latency(us)\n1       1.0")
		fmt.Fprintln(os.Stderr, "rank 1: the sky fell on our heads")
		return 3
	case "prose":
		fmt.Println("usage: not a benchmark")
	case "hang":
		time.Sleep(time.Hour)
	case "log": // appends its name to a file, to see the order of the rounds
		name, file, _ := strings.Cut(arg, "@")
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return 1
		}
		defer f.Close()
		fmt.Fprint(f, name)
		return act("latency:1")
	}
	return 0
}

func scale(s string) float64 {
	var f float64
	fmt.Sscan(s, &f)
	return f
}

func side(name, part string) Side {
	return Side{Name: name, Argv: []string{os.Args[0]}, Env: append(os.Environ(), play+"="+part)}
}

func config(ours, theirs string) Config {
	return Config{Benchmark: "latency", Ranks: 2, Rounds: 3, Ours: side("osu-go", ours), Theirs: side("theirs", theirs)}
}

func one(v float64) spread.Spread { return spread.Of([]float64{v}) }

func someFloor() (floor.Floor, error) {
	return floor.Floor{CPUs: [2]int{0, 1}, LineNs: one(50),
		Copies: []floor.Copy{{Size: 64 << 10, GBs: one(50)}, {Size: 1 << 20, GBs: one(40)}, {Size: 4 << 20, GBs: one(20)}}}, nil
}

func TestRatiosAreOursToTheirs(t *testing.T) {
	c := config("latency:0.5", "latency:2")
	c.Floor = someFloor
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Metrics) != 1 || len(r.Metrics[0].Points) != 3 {
		t.Fatalf("%+v", r)
	}
	m := r.Metrics[0]
	if m.Better != "lower is better" || !m.lower {
		t.Errorf("direction %q", m.Better)
	}
	for i, pt := range m.Points {
		n := float64(int(1) << i)
		if pt.Size != 1<<i || pt.Ours.Median != 0.5*n || pt.Theirs.Median != 2*n || pt.Ratio.Median != 0.25 || pt.Ratio.N != 3 || pt.Floor != 0.05 {
			t.Errorf("%+v", pt)
		}
	}
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lower is better, a ratio below 1 speaks for ours", "\n4                  2.000         8.000     0.250     0.250     0.250        0.0500\n", "one cache line between cores 0 and 1 in 50.0 ns"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestEveryColumnIsCompared(t *testing.T) {
	c := config("rates:3", "rates:2")
	c.Benchmark, c.Floor = "mbw_mr", someFloor
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Metrics) != 2 || r.Metrics[0].Name != "MB/s" || r.Metrics[1].Name != "Messages/s" {
		t.Fatalf("%+v", r.Metrics)
	}
	for _, m := range r.Metrics {
		if m.Better != "higher is better" || m.Points[1].Ratio.Median != 1.5 {
			t.Errorf("%+v", m)
		}
	}
	if f := r.Metrics[0].Points; f[0].Floor != 0 || f[1].Floor != 50000 {
		t.Errorf("floors %v and %v MB/s", f[0].Floor, f[1].Floor)
	}
}

func TestRoundsAlternate(t *testing.T) {
	file := t.TempDir() + "/order"
	if _, err := Run(context.Background(), config("log:a@"+file, "log:b@"+file)); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if string(got) != "abbaab" {
		t.Errorf("order %q", got)
	}
}

func TestOlderOSUIsUnderstoodAndSizesThatOneLacksAreNamed(t *testing.T) {
	r, err := Run(context.Background(), config("latency:1", "old"))
	if err == nil {
		// The datatypes differ: ours prints none.
		t.Fatalf("%+v", r)
	}
	tab := func(s string) *osufmt.Table {
		t.Helper()
		out, err := osufmt.Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ours := tab("# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1 0.25\n2 0.3\n4 0.4\n")
	theirs := tab("# Size          Latency (us)\n# Datatype: MPI_CHAR.\n1 0.50\n4 0.00\n")
	r, err = reduce(config("", ""), []*osufmt.Table{ours}, []*osufmt.Table{theirs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Metrics[0].Points; len(p) != 1 || p[0].Ratio.Median != 0.5 {
		t.Errorf("%+v", p)
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "MPI_CHAR size 2") || !strings.Contains(notes, "printed 0, so not compared: Avg Latency(us) of MPI_CHAR size 4") {
		t.Errorf("notes %q", notes)
	}
	if c := r.Metrics[0].Coarse; math.Abs(c-0.01) > 1e-12 {
		t.Errorf("two decimals of 0.50 are uncertain by %v", c)
	}
}

func TestAProgramThatPrintsOnlyZerosIsNamed(t *testing.T) {
	_, err := Run(context.Background(), config("latency:1", "latency:0"))
	if !errors.Is(err, ErrNothingInCommon) || !strings.Contains(err.Error(), "theirs printed 0") {
		t.Errorf("%v", err)
	}
}

func TestFailuresShowWhatTheProgramSaid(t *testing.T) {
	for _, tc := range []struct {
		name, part string
		want       []string
	}{
		{"exit status", "fail", []string{"theirs (", "exit status 3", "the sky fell on our heads"}},
		{"no table", "prose", []string{"no OSU table", "usage: not a benchmark"}},
	} {
		_, err := Run(context.Background(), config("latency:1", tc.part))
		var se *SideError
		if !errors.As(err, &se) || se.Side.Name != "theirs" {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in %v", tc.name, w, err)
			}
		}
	}
	c := config("latency:1", "")
	c.Theirs.Argv = []string{"/no/such/program"}
	if _, err := Run(context.Background(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that does not exist: %v", err)
	}
	c.Rounds = 0
	if _, err := Run(context.Background(), c); err == nil {
		t.Error("0 rounds accepted")
	}
}

func TestCancellationEndsTheProgram(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Run(ctx, config("hang", "hang"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if d := time.Since(start); d > stopDelay {
		t.Errorf("ended after %v", d)
	}
}

// sample is a made-up result of many sizes.
func sample(two bool) *Result {
	f, _ := someFloor()
	r := &Result{Benchmark: "latency", Rounds: 7, Ours: "osu-go latency", Floor: &f,
		Theirs: "mpirun.openmpi -n 2 --bind-to core bench/peers/bin/latency.openmpi", Names: [2]string{"osu-go", "theirs"}}
	m := Metric{Name: "Avg Latency(us)", Key: "avg_latency_us", Better: "lower is better", First: "Size", lower: true}
	for n := 1; n <= 4<<20; n *= 2 {
		a, b := 0.09+float64(n)/30e3, 0.16+float64(n)/12e3
		wave := 1 + 0.05*math.Sin(float64(len(m.Points)))
		m.Points = append(m.Points, Point{Size: n,
			Ours:   spread.Of([]float64{a * 0.95, a, a * 1.1 * wave}),
			Theirs: spread.Of([]float64{b * 0.97, b * wave, b * 1.2}),
			Ratio:  spread.Of([]float64{a / b * 0.9, a / b, a / b * 1.1 * wave}),
			Floor:  f.Latency(n)})
	}
	r.Metrics = []Metric{m}
	if two {
		m.Name, m.lower = "MB/s", false
		r.Metrics = append(r.Metrics, m)
	}
	return r
}
