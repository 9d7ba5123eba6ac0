package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/internal/launch"
)

// Environment variables that make the test binary another program.
const (
	beOsuGo = "OSU_GO_TEST_MAIN" // osu-go itself: a rank, or our side of a comparison
	beOther = "OSU_GO_TEST_OTHER"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == beOther && os.Args[2] == "async":
		fmt.Println("# Weft MPI Asynchronous Progress Test\n# [ operation: ssend ] [ computation: 1 ms ]\n# Datatype: MPI_CHAR.")
		fmt.Println("# Size            Median(us)           Max(us)")
		for _, n := range []int{8, 64, 100} {
			fmt.Printf("%-10d%18.2f%18.2f\n", n, 1e6, 2e6)
		}
	case len(os.Args) > 1 && os.Args[1] == beOther:
		fmt.Println("# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)")
		for n := 1; n <= 8; n *= 2 {
			fmt.Printf("%-10d%18.2f\n", n, 1000.0)
		}
	case os.Getenv(beOsuGo) != "":
		main()
	default:
		// Under -race a program sleeps for a second at exit, and a test runs
		// many.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Exit(m.Run())
	}
}

// osuGo runs the command as a user would.
func osuGo(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv(beOsuGo, "1")
	var out, errs bytes.Buffer
	status = run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestRanksAreStartedAndRank0Prints(t *testing.T) {
	status, out, errs := osuGo(t, "latency", "-m8", "-i2", "-x", "1", "-cz50,99")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	tab, err := osufmt.Parse([]byte(out))
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if s := tab.Sections[0]; len(tab.Sections) != 1 || len(s.Rows) != 4 || len(s.Columns) != 4 {
		t.Errorf("%d rows under %d columns:\n%s", len(s.Rows), len(s.Columns), out)
	}
	if !strings.HasPrefix(out, "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)        Validation  P50 Tail Lat(us)  P99 Tail Lat(us)\n1         ") {
		t.Errorf("printed:\n%s", out)
	}
}

func TestJSONIsOneObject(t *testing.T) {
	status, out, errs := osuGo(t, "mbw_mr", "-n", "4", "--fabric", "mem", "--json", "-m", "2:4", "-i", "2", "-c", "-T", "all")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var doc struct {
		Benchmark, Fabric, Version string
		Ranks                      int
		Machine                    struct {
			Arch  string
			Cores int
		}
		Rows []struct {
			Datatype string
			Size     int
			MBs      float64 `json:"mb_s"`
			Rate     float64 `json:"messages_s"`
			Valid    bool
		}
	}
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&doc); err != nil || d.More() {
		t.Fatalf("%v:\n%s", err, out)
	}
	if doc.Benchmark != "mbw_mr" || doc.Ranks != 4 || doc.Fabric != "mem" || doc.Version == "" || doc.Machine.Arch == "" || doc.Machine.Cores < 1 {
		t.Errorf("%+v", doc)
	}
	// MPI_CHAR of 2 and 4 bytes, MPI_INT and MPI_FLOAT of 4.
	if len(doc.Rows) != 4 || doc.Rows[0].Size != 2 || doc.Rows[3].Datatype != "MPI_FLOAT" {
		t.Fatalf("%+v", doc.Rows)
	}
	for _, r := range doc.Rows {
		if !r.Valid || r.MBs <= 0 || r.Rate <= 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestOverlapIsToldWithItsSettings(t *testing.T) {
	status, out, errs := osuGo(t, "overlap", "--progress", "none", "-k", "both", "--json", "-m", "8192:16384", "-i", "2", "-x0", "-c")
	var doc struct {
		Progress string
		Rows     []struct {
			Overall float64 `json:"overall_us"`
			Compute float64 `json:"compute_us"`
			Pure    float64 `json:"pure_comm_us"`
			Overlap float64 `json:"overlap_percent"`
			Valid   bool
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); status != 0 || err != nil || doc.Progress != "none" || len(doc.Rows) != 2 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errs)
	}
	for _, r := range doc.Rows {
		if r.Overall <= 0 || r.Compute <= 0 || r.Pure <= 0 || r.Overlap < 0 || !r.Valid {
			t.Errorf("%+v", r)
		}
	}
}

func TestAsyncPrintsItsColumnsAndMoreWhereAsked(t *testing.T) {
	status, out, errs := osuGo(t, "async", "-m", "8:4096", "-i", "3", "-w", "1", "-k", "send")
	if status != 0 || !strings.HasPrefix(out, "\n# Weft MPI Asynchronous Progress Test\n# [ operation: send ] [ computation: 1 ms ]\n"+
		"# Datatype: MPI_CHAR.\n# Size            Median(us)           Max(us)\n8         ") || strings.Count(out, "\n") != 5+4 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	status, out, errs = osuGo(t, "async", "--json", "-m", "8:100000", "-i", "3", "-w", "1", "-cz90")
	var doc struct {
		Rows []struct {
			Size   int
			Median float64 `json:"median_us"`
			P90    float64 `json:"p90_latency_us"`
			Max    float64 `json:"max_us"`
			Valid  bool
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); status != 0 || err != nil || len(doc.Rows) != 6 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errs)
	}
	for i, size := range []int{8, 64, 512, 4096, 32768, 100000} {
		if r := doc.Rows[i]; r.Size != size || r.Median <= 0 || r.P90 < r.Median || r.Max < r.P90 || !r.Valid {
			t.Errorf("%+v", r)
		}
	}
}

func TestCompareTakesEveryColumnOfAsync(t *testing.T) {
	status, out, errs := osuGo(t, "compare", "async", "-m8:100", "-i2", "-w1", "--rounds", "2", "--json", "--no-floor",
		"--svg", filepath.Join(t.TempDir(), "c.svg"), "--", os.Args[0], beOther, "async")
	type point struct {
		Size         int
		Ours, Theirs struct{ Median float64 }
	}
	var doc struct {
		Metrics []struct {
			Name   string
			Points []point
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); status != 0 || err != nil {
		t.Fatalf("status %d, %v: %s%s", status, err, out, errs)
	}
	if len(doc.Metrics) != 2 || doc.Metrics[0].Name != "Median(us)" || doc.Metrics[1].Name != "Max(us)" {
		t.Fatalf("%+v", doc)
	}
	for i, m := range doc.Metrics {
		if len(m.Points) != 3 || m.Points[2].Size != 100 {
			t.Fatalf("%s: %+v", m.Name, m.Points)
		}
		for _, p := range m.Points {
			if p.Ours.Median <= 0 || p.Theirs.Median != 1e6*float64(i+1) {
				t.Errorf("%s: %+v", m.Name, p)
			}
		}
	}
}

func TestCompareMeasuresBothAndDraws(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "c.svg")
	status, out, errs := osuGo(t, "compare", "latency", "-m1:4", "-i", "2", "-x0", "--rounds", "2", "--no-floor", "--label", "other", "--svg", svg, "--", os.Args[0], beOther)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, want := range []string{"# theirs: " + os.Args[0], "Avg Latency(us): lower is better", "\n4 ", " 1000.0 "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	b, err := os.ReadFile(svg)
	if err != nil || !bytes.Contains(b, []byte("latency: osu-go and other")) {
		t.Errorf("drawing: %v", err)
	}

	status, out, errs = osuGo(t, "compare", "latency", "-m1:4", "-i", "2", "--rounds", "1", "--json", "--no-floor", "--", os.Args[0], beOther)
	var doc struct {
		Benchmark string
		Metrics   []struct{ Points []struct{ Size int } }
	}
	if err := json.Unmarshal([]byte(out), &doc); status != 0 || err != nil || doc.Benchmark != "latency" || len(doc.Metrics[0].Points) != 3 {
		t.Errorf("status %d, %v, %+v, %s", status, err, doc, errs)
	}
}

func TestCompareShowsWhatAFailingCommandSaid(t *testing.T) {
	status, _, errs := osuGo(t, "compare", "latency", "-m1", "-i1", "--rounds", "1", "--no-floor", "--", "sh", "-c", "echo alas >&2; exit 4")
	if status != exitFailed || !strings.Contains(errs, "exit status 4") || !strings.Contains(errs, "alas") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestFloorIsPrinted(t *testing.T) {
	status, out, errs := osuGo(t, "floor", "-s", "0.02")
	if status != 0 {
		if strings.Contains(errs, "the floor needs two cores") {
			return
		}
		t.Fatalf("status %d: %s", status, errs)
	}
	if !strings.Contains(out, "cache line, half a round trip (ns)") || strings.Count(out, "GB/s") != 3 {
		t.Errorf("printed:\n%s", out)
	}
	status, out, _ = osuGo(t, "floor", "-s", "0.02", "--json")
	if !json.Valid([]byte(out)) || status != 0 {
		t.Errorf("status %d:\n%s", status, out)
	}
}

func TestCommandLinesThatMakeNoSenseEndWithStatus2AndSayWhatIsMeant(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string
	}{
		{"", "name a benchmark"},
		{"latncy", "did you mean latency?"},
		{"lst", "did you mean list?"},
		{"latency --fabirc shm", "did you mean --fabric?"},
		{"latency --fabric smh", "did you mean shm?"},
		{"latency -W 3", "only bw, bibw, mbw_mr"},
		{"bw -w 3", "did you mean -W, --window-size?"},
		{"barrier -Q", "no flag -Q"},
		{"mbw_mr -D cont", "no flag -D, only latency, bw, bibw, allreduce, bcast"},
		{"acc_latency --ddt vect:128:64", "no flag --ddt, only latency, bw, bibw"},
		{"gather -D hand:128:64", "packs nothing by hand"},
		{"put_bw -D vekt:1:2", "did you mean vect?"},
		{"allreduce -D struct", "no sum of structs"},
		{"allreduce -O maxlok", "did you mean maxloc?"},
		{"allreduce -O maxloc -T mpi_float", "leave -T out"},
		{"reduce -O maxloc -D cont", "not measured in derived datatypes"},
		{"bcast -O sum", "no flag -O, only allreduce, reduce"},
		{"latency -D vekt:1:2", "did you mean vect?"},
		{"latency -D vect", "stride and the length of a block"},
		{"latency -D hand:128", "hand:128:64"},
		{"latency -D vect:0:1", "stride: 0 is below 1"},
		{"latency -D vect:4:5", "5 is above 4"},
		{"latency -D vect:8:4:2", `"4:2" is not a whole number`},
		{"latency -D cont:8", `what is "8"?`},
		{"latency -D struct:", `what is ""?`},
		{"latency -D indx", "lines with the displacement and the length"},
		{"latency -D indx:/nowhere/at/all", "no such file"},
		{"latency -D struct -T all", "leave -T out"},
		{"latency -b singel", "did you mean single?"},
		{"latency -T mpi_double", "not one of all, mpi_char, mpi_float, mpi_int"},
		{"latency -n 2 --ranks 3", "--ranks is given twice, as 2 and as 3"},
		{"latency -m8 -m 16", "--message-size is given twice, as 8 and as 16"},
		{"latency --json --json=false", "--json is given twice"},
		{"latency --trace=", "--trace has an empty value"},
		{"latency --metrics=", "--metrics has an empty value"},
		{"latency --fabric=", "--fabric has an empty value"},
		{"compare latency --svg= -- true", "--svg has an empty value"},
		{"compare latency --label= -- true", "--label has an empty value"},
		{"compare latency --rounds 1 --rounds 2 -- true", "--rounds is given twice, as 1 and as 2"},
		{"report --output= results", "--output has an empty value"},
		{"report --title= results", "--title has an empty value"},
		{"floor -s 1 -s 2", "--seconds is given twice, as 1 and as 2"},
		{"latency -m x", `"x" is not a whole number`},
		{"latency -m :", "neither a smallest nor a largest size"},
		{"latency -m 8:4", "the smallest, 8, is above the largest, 4"},
		{"latency -m 0", "0 is below 1"},
		{"latency -m 99999999999999999999", "is not a whole number"},
		{"latency -i 0", "0 is below 1"},
		{"latency -x -1", "-1 is below 0"},
		{"latency -z50,101", "101 is above 100"},
		{"latency -z1,2,3,4,5,6", "6 percentiles, the most is 5"},
		{"latency -u 11", "11 is above 10"},
		{"latency_mt -t 128", "128 is above 127"},
		{"latency_mt -c", "as many receiving threads as sending ones"},
		{"latency -n 1000000", "can sensibly run at most"},
		{"latency -n 3", "exactly 2 ranks, not 3"},
		{"multi_lat -n 3", "3 is odd"},
		{"mbw_mr -n 1", "at least 2 ranks"},
		{"latency 5", `what is "5"?`},
		{"overlap -k sender", "not one of both, receiver"},
		{"overlap -w 0", "not a number above 0"},
		{"overlap --progress fast", "not one of none, thread"},
		{"partitioned -p 0", "below 1"},
		{"partitioned -p 3", "is a multiple of 3 partitions"},
		{"partitioned -p 4 -t 5", "5 threads (-t) for 4 partitions"},
		{"async -k get", "not one of send, ssend"},
		{"async -w 0", "not a number of milliseconds above 0"},
		{"async -w 60001", "up to 60000"},
		{"async -k snd", "did you mean send?"},
		{"async -b single", "only latency, bw"},
		{"put_latency -w shared", "not one of allocate, create, dynamic"},
		{"get_bw -s flush_all", "not one of fence, flush, flush_local, lock, lock_all, pscw"},
		{"put_bibw -s lock", "not one of fence, pscw"},
		{"put_bw -W 65536 -m 1048576", "need a window of more than"},
		{"cas_latency -T mpi_float", "not one of all, mpi_char, mpi_int, mpi_int64_t"},
		{"put_latency -T mpi_int", "only latency"},
		{"fop_latency -n 3", "exactly 2 ranks"},
		{"latency --metrics 9464", "HOST:PORT"},
		{"latency --fabric mem --metrics 9464", "HOST:PORT"},
		{"cpu -s 0", "not a number of seconds"},
		{"cpu -s nan", "not a number of seconds"},
		{"matching -q both", "not one of posted, unexpected"},
		{"list now", `what is "now"?`},
		{"floor -s -1", "not between 0 and 3600"},
		{"floor --jsno", "did you mean --json?"},
		{"compare", "compare what?"},
		{"compare latncy -- x", "did you mean latency?"},
		{"compare latency", "Put the command behind --"},
		{"compare latency --", "Put the command behind --"},
		{"compare latency 8 -- x", `what is "8"?`},
		{"compare latency --rounds 0 -- x", "--rounds 0"},
		{"compare latency --ruonds 2 -- x", "did you mean --rounds?"},
		{"compare barrier --svg f -- x", "nothing for --svg to draw"},
	} {
		status, out, errs := osuGo(t, strings.Fields(tc.args)...)
		if status != exitUsage || !strings.Contains(errs, tc.want) || out != "" {
			t.Errorf("osu-go %s: status %d, printed %q and %q, want %q", tc.args, status, out, errs, tc.want)
		}
	}
}

func TestHelpAndListNameEverything(t *testing.T) {
	for args, want := range map[string]string{
		"help":               "osu-go compare BENCH",
		"-h":                 "osu-go floor",
		"list":               "mbw_mr",
		"latency -h":         "--tail-lat",
		"matching --help":    "-b, --budget MS",
		"compare -h":         "osu-go compare BENCH",
		"compare latency -h": "--rounds",
		"floor -h":           "--seconds",
		"bw -h":              "vect:STRIDE:BLOCK",
		"overlap -h":         "Overlap: 100 (1 - (Overall - Compute) / Pure Comm.)",
		"partitioned -h":     "those that -p does not divide are left out",
		"put_latency -h":     "-s, --sync-option lock|flush|flush_local|lock_all|pscw|fence",
		"get_latency -v":     "# OSU MPI_Get latency Test v7.4",
		"async -h":           "Rank 1 has posted the receive and computes",
		"bw_persistent -v":   "# OSU MPI Bandwidth Persistent Test v7.4",
		"latency -v":         "# OSU MPI Latency Test v7.4",
	} {
		status, out, errs := osuGo(t, strings.Fields(args)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("osu-go %s: status %d, printed %q and %q", args, status, out, errs)
		}
	}
}

func TestALauncherThatOffersNoBootstrapIsAnError(t *testing.T) {
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	status, _, errs := osuGo(t, "latency", "-m1", "-i1")
	if status != exitFailed || !strings.Contains(errs, "OMPI_COMM_WORLD_SIZE") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestUnderALauncherItIsARank(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(n int, args ...string) (string, string, error) {
		var out, errs bytes.Buffer
		l := launch.Launch{N: n, Path: self, Args: args, Env: append(os.Environ(), beOsuGo+"=1"), Stdout: &out, Stderr: &errs}
		err := l.Run(context.Background())
		return out.String(), errs.String(), err
	}
	out, errs, err := run(3, "barrier", "-i", "2", "-x", "0")
	if err != nil || strings.Count(out, "# OSU MPI Barrier Latency Test") != 1 {
		t.Errorf("%v: %s%s", err, out, errs)
	}
	for _, args := range [][]string{{"latency"}, {"barrier", "-n", "2"}} {
		_, errs, err = run(3, args...)
		var exit *launch.ExitError
		if !errors.As(err, &exit) || exit.Code != exitUsage || strings.Count(errs, "osu-go:") != 1 {
			t.Errorf("%v on 3 ranks: %v, printed %q", args, err, errs)
		}
	}
}
