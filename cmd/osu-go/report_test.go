package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/record"
)

// filesIn are the names of a directory's files.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// saved reads a document that --save has kept.
func saved(t *testing.T, name string) any {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := record.Read(text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return doc
}

func TestSavedResultsBecomeAPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "results")
	for _, args := range [][]string{
		{"latency", "-m1:8", "-i2", "-x0", "--save", dir},
		{"latency", "-m1:8", "-i2", "-x0", "--save", dir},
		{"latency", "-m1:8", "-i2", "-x0", "--fabric", "mem", "--save", dir},
		{"barrier", "-i2", "-x0", "--save", dir},
		{"compare", "latency", "-m1:4", "-i2", "-x0", "--rounds", "2", "--no-floor", "--label", "an <other>/..", "--save", dir, "--", os.Args[0], beOther},
	} {
		status, out, errs := osuGo(t, args...)
		if status != 0 || !strings.Contains(out, "#") {
			t.Fatalf("%v: status %d, printed %q and %q", args, status, out, errs)
		}
	}
	want := []string{"barrier.shm.1.json", "compare.latency.an__other__...1.json", "latency.mem.1.json", "latency.shm.1.json", "latency.shm.2.json"}
	if got := filesIn(t, dir); !slices.Equal(got, want) {
		t.Fatalf("kept %q, want %q", got, want)
	}

	run, ok := saved(t, filepath.Join(dir, "latency.shm.2.json")).(*record.Run)
	if !ok || run.Benchmark != "latency" || run.Fabric != "shm" || run.First != "Size" || len(run.Rows) != 4 || run.When.IsZero() || run.Machine.Go == "" ||
		!slices.Contains(run.Flags, "--iterations=2") || len(run.Places) != 2 || run.Places[1].Cores == "" || run.Places[0].Host != run.Machine.Host {
		t.Errorf("%+v", run)
	}
	c, ok := saved(t, filepath.Join(dir, want[1])).(*record.Comparison)
	if !ok || c.Names != [2]string{"osu-go", "an <other>/.."} || c.Rounds != 2 || c.Metrics[0].First != "Size" || len(c.Places) != 2 || c.Ranks != 2 {
		t.Errorf("%+v", c)
	}

	if err := os.WriteFile(filepath.Join(dir, "prose.txt"), []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, out, errs := osuGo(t, "report", dir)
	file := filepath.Join(dir, "report.html")
	if status != 0 || out != file+": 5 files of results, 1 left out\n" || !strings.Contains(errs, `left out: "prose.txt": `) {
		t.Fatalf("status %d, printed %q and %q", status, out, errs)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>Results in results</h1>", "an &lt;other&gt;/..", "Weft, mem", "Barrier Latency", "latency.shm.2.json", "<dt>prose.txt</dt>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q on the page", want)
		}
	}

	// The page itself is no result, and is replaced.
	if status, out, _ := osuGo(t, "report", dir, "--title", "Again"); status != 0 || !strings.Contains(out, "5 files of results, 1 left out") {
		t.Errorf("status %d, printed %q", status, out)
	}
	again, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(again), "<h1>Again</h1>") {
		t.Errorf("%v", err)
	}
	if status, out, _ := osuGo(t, "report", dir, "-o", "-"); status != 0 || !strings.HasPrefix(out, "<!DOCTYPE html>") || !strings.HasSuffix(out, "</html>\n") {
		t.Errorf("status %d, printed %.100q", status, out)
	}
	if got := filesIn(t, dir); len(got) != 7 {
		t.Errorf("files %q", got)
	}
}

func TestTheFloorOfARunIsKept(t *testing.T) {
	if status, _, errs := osuGo(t, "floor", "-s", "0.02"); status != 0 && strings.Contains(errs, "the floor needs two cores") {
		t.Skip(errs)
	}
	dir := t.TempDir()
	for fabric, name := range map[string]string{"shm": "a.json", "mem": "b.json"} {
		name = filepath.Join(dir, name)
		if status, _, errs := osuGo(t, "latency", "-m8", "-i2", "-x0", "--fabric", fabric, "--save", name); status != 0 {
			t.Fatal(errs)
		}
		if run := saved(t, name).(*record.Run); run.Floor == nil || !(run.Floor.LineNs.Median > 0) {
			t.Errorf("%s: floor %+v", fabric, run.Floor)
		}
	}
}

func TestAFileThatIsNamedIsReplacedWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.json")
	for range 2 {
		if err := save(name, &record.Floor{Head: documented(record.FloorKind)}, "unused"); err != nil {
			t.Fatal(err)
		}
	}
	if got := filesIn(t, filepath.Dir(name)); len(got) != 1 {
		t.Errorf("files %q", got)
	}
	if err := save(filepath.Join(name, "under", "a", "file"), nil, "x"); err == nil || !strings.Contains(err.Error(), "keep the result") {
		t.Error(err)
	}
	if err := save(filepath.Join(t.TempDir(), "none", "x.json"), nil); err == nil {
		t.Error("a file in a directory that does not exist is written")
	}
}

func TestNamesOfFilesAreHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"latency.shm+tcp": "latency.shm+tcp", "../etc/passwd": "_etc_passwd", "a b\n<c>": "a_b__c_", "..": "", "ü": "_",
		strings.Repeat("x", 300): strings.Repeat("x", 100),
	} {
		if got := fileName(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestReportSaysWhatIsMissing(t *testing.T) {
	empty := t.TempDir()
	for _, tc := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"report"}, exitUsage, "report what?"},
		{[]string{"report", "a", "b"}, exitUsage, `what is "b"?`},
		{[]string{"report", "--ouput", "x", "a"}, exitUsage, "did you mean --output?"},
		{[]string{"reprot", "a"}, exitUsage, "did you mean report?"},
		{[]string{"latency", "--save", ""}, exitUsage, "--save has an empty value"},
		{[]string{"report", filepath.Join(empty, "none")}, exitFailed, "no such file"},
		{[]string{"report", os.Args[0]}, exitFailed, "is not a directory"},
		{[]string{"report", empty}, exitFailed, "no results in " + empty + ": osu-go latency --save " + empty},
	} {
		status, out, errs := osuGo(t, tc.args...)
		if status != tc.status || !strings.Contains(errs, tc.want) || out != "" {
			t.Errorf("%v: status %d, printed %q and %q, want %q", tc.args, status, out, errs, tc.want)
		}
	}
	if got := filesIn(t, empty); len(got) != 0 {
		t.Errorf("files %q", got)
	}
	if status, out, _ := osuGo(t, "report", "-h"); status != 0 || !strings.Contains(out, "--output") {
		t.Errorf("status %d, printed %q", status, out)
	}
}
