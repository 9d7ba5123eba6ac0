package record

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

var (
	head = Head{When: time.Date(2026, 5, 4, 10, 20, 30, 0, time.UTC), Version: "v1",
		Machine: Machine{Host: "node1", OS: "linux", Arch: "amd64", Kernel: "6.12", CPU: "a processor", Cores: 2, Go: "go1.26"}}
	some  = spread.Of([]float64{1, 2, 3})
	limit = floor.Floor{CPUs: [2]int{0, 1}, LineNs: some, Copies: []floor.Copy{{Size: 1 << 16, GBs: some}, {Size: 1 << 20, GBs: some}}}
	job   = Job{Ranks: 2, Fabric: "shm", Progress: "thread", Places: []Place{{"node1", "0"}, {"node1", "1"}}}
)

func of(k Kind) Head {
	h := head
	h.Kind = k
	return h
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	for _, doc := range []any{
		&Run{Head: of(RunKind), Benchmark: "latency", Flags: []string{"--ranks=2"}, OSU: "7.4", Floor: &limit, First: "Size", Job: job,
			Columns: []Column{{"avg_latency_us", "Avg Latency(us)", "lower is better"}},
			Rows:    []map[string]any{{"datatype": "MPI_CHAR", "size": 8.0, "avg_latency_us": 0.25}}},
		&Comparison{Head: of(ComparisonKind), Job: job, Result: &compare.Result{Benchmark: "latency", Rounds: 3, Names: [2]string{"osu-go", "mpich"},
			Ours: "osu-go latency", Theirs: "mpiexec latency", Floor: &limit, Notes: []string{"a note"},
			Metrics: []compare.Metric{{Name: "Avg Latency(us)", Key: "avg_latency_us", Better: "lower is better", First: "Size", Coarse: 0.02,
				Points: []compare.Point{{Datatype: "MPI_CHAR", Size: 8, Ours: some, Theirs: some, Ratio: some, Floor: 0.05}}}}}},
		&Floor{Head: of(FloorKind), Floor: limit},
	} {
		var text bytes.Buffer
		if err := Write(&text, doc); err != nil {
			t.Fatal(err)
		}
		got, err := Read(text.Bytes())
		if err != nil || !reflect.DeepEqual(got, doc) {
			t.Errorf("%v, %+v, want %+v", err, got, doc)
		}
	}
}

func TestARunHasATableForEachDatatype(t *testing.T) {
	var c osufmt.Collector
	for _, d := range []string{"MPI_CHAR", "MPI_INT"} {
		c.Section(osufmt.Section{Datatype: d, Columns: []osufmt.Column{osufmt.AvgLatency, osufmt.Validation}})
		c.Row(osufmt.Row{Size: 4, Values: []float64{0.5, 0}})
		c.Row(osufmt.Row{Size: 8, Values: []float64{0.75, 3}})
	}
	r := Run{Head: of(RunKind), Benchmark: "latency", Rows: c.Objects(), Job: job}
	r.First, r.Columns = Columns(c.Sections())
	var text bytes.Buffer
	if err := Write(&text, &r); err != nil {
		t.Fatal(err)
	}
	doc, err := Read(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.(*Run).Sections()
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %+v", err, got)
	}
	for i, d := range []string{"MPI_CHAR", "MPI_INT"} {
		s := got[i]
		// The number of errors is not in the document.
		want := []osufmt.Row{{Size: 4, Values: []float64{0.5, 0}}, {Size: 8, Values: []float64{0.75, 1}}}
		if s.Datatype != d || s.FirstName() != "Size" || s.NoSize || !reflect.DeepEqual(s.Rows, want) {
			t.Errorf("%+v", s)
		}
		if s.Columns[0].Better != osufmt.Lower || s.Columns[1].Better != osufmt.Neither || s.Columns[0].Name != "Avg Latency(us)" {
			t.Errorf("%+v", s.Columns)
		}
	}
}

func TestATableOfOneRowHasNoSizes(t *testing.T) {
	var c osufmt.Collector
	c.Section(osufmt.Section{NoSize: true, Columns: []osufmt.Column{osufmt.AvgLatency}})
	c.Row(osufmt.Row{Values: []float64{1.5}})
	r := Run{Benchmark: "barrier", Rows: c.Objects()}
	r.First, r.Columns = Columns(c.Sections())
	got, err := r.Sections()
	if err != nil || len(got) != 1 || !got[0].NoSize || got[0].Rows[0].Values[0] != 1.5 {
		t.Errorf("%v, %+v", err, got)
	}
	if first, columns := Columns(nil); first != "" || columns == nil {
		t.Errorf("%q, %v", first, columns)
	}
}

func TestWhatIsNoDocumentIsRefusedWithTheReason(t *testing.T) {
	run := func(rest string) string {
		return `{"kind":"run","benchmark":"latency","first":"Size","columns":[{"key":"a","name":"A(us)","better":"lower is better"}],` + rest + `}`
	}
	line := `{"min":1,"q1":1,"median":1,"q3":1,"max":1,"n":1}`
	comparison := func(ours string) string {
		return `{"kind":"comparison","benchmark":"latency","metrics":[{"name":"A(us)","better":"lower is better","points":[{"ours":` +
			ours + `,"theirs":` + line + `,"ratio":` + line + `}]}]}`
	}
	for text, want := range map[string]string{
		``:                 "no JSON object",
		`[]`:               "no JSON object",
		`{}`:               "not a document of osu-go",
		`{"kind":"cake"}`:  "not a document of osu-go",
		`{"kind":"run"}`:   "names no benchmark",
		`{"kind":"floor"}`: "can't have been measured",
		`{"kind":"floor","floor":{"line_ns":` + line + `,"copies":[{"size":2,"gb_s":` + line + `},{"size":1,"gb_s":` + line + `}]}}`: "can't have been measured",
		run(`"rows":[]`): "no rows",
		`{"kind":"run","benchmark":"a","rows":[{}]}`: "names no columns",
		run(`"rows":[{"size":1.5,"a":1}]`):           "row 1 has no size",
		run(`"rows":[{"size":-1,"a":1}]`):            "row 1 has no size",
		run(`"rows":[{"size":1,"a":1},{"size":2}]`):  "row 2 has no a",
		run(`"rows":[{"size":1,"a":"b"}]`):           "row 1 has no a",
		run(`"rows":[{"size":1,"a":1}],"floor":{}`):  "can't have been measured",
		`{"kind":"run","benchmark":"a","columns":[{"key":"a","name":"A","better":"x"}],"rows":[{"a":1}]}`: `column "A"`,
		`{"kind":"comparison"}`: "compares nothing",
		comparison(`{"n":0}`):   "no measurement",
		comparison(`{"min":2,"q1":1,"median":1,"q3":1,"max":1,"n":1}`):  "no measurement",
		comparison(`{"min":-1,"q1":1,"median":1,"q3":1,"max":1,"n":1}`): "no measurement",
	} {
		got, err := Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", text, got, err, want)
		}
	}
	if _, err := Read([]byte(`{}`)); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, err := Read([]byte(comparison(line))); err != nil {
		t.Error(err)
	}
}

func TestCoresAreListedInShort(t *testing.T) {
	for want, cores := range map[string][]int{"": nil, "0": {0}, "0-1": {0, 1}, "0-3,8,10-11": {0, 1, 2, 3, 8, 10, 11}, "1,3,5": {1, 3, 5}} {
		if got := Cores(cores); got != want {
			t.Errorf("%v: %q, want %q", cores, got, want)
		}
	}
}
