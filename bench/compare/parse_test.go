package compare

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/spread"
)

// near compares a figure with what is left of it in print.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 0.0011*max(math.Abs(want), 1)
}

func TestParseTextReadsWhatWriteTextPrints(t *testing.T) {
	single := &Result{Benchmark: "barrier", Rounds: 7, Ours: "/bin/osu-go barrier", Theirs: "/usr/bin/mpirun -n 2 barrier",
		Notes: []string{"theirs prints no column \"Max\": none"}, Metrics: []Metric{{Name: "Avg Latency(us)", Key: "avg_latency_us",
			Better: "lower is better", lower: true, Coarse: 0.04, Points: []Point{{Ours: one(0.25), Theirs: one(0.5), Ratio: spread.Of([]float64{0.4, 0.5, 0.6})}}}}}
	typed := sample(false)
	for i := range typed.Metrics[0].Points {
		if i >= 11 {
			typed.Metrics[0].Points[i].Datatype = "MPI_INT"
		}
	}
	for name, r := range map[string]*Result{"sizes": sample(false), "two columns": sample(true), "no size": single, "datatypes": typed} {
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if !IsText(text.Bytes()) {
			t.Errorf("%s: is taken for something else", name)
		}
		got, err := ParseText(text.Bytes())
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text.Bytes())
			continue
		}
		if got.Benchmark != r.Benchmark || got.Rounds != r.Rounds || got.Ours != r.Ours || got.Theirs != r.Theirs || len(got.Notes) != len(r.Notes) ||
			got.Names[1] != filepath.Base(strings.Fields(r.Theirs)[0]) || len(got.Metrics) != len(r.Metrics) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, m := range got.Metrics {
			w := r.Metrics[i]
			if m.Name != w.Name || m.Better != w.Better || m.First != w.First || !near(m.Coarse, w.Coarse) || len(m.Points) != len(w.Points) {
				t.Errorf("%s: %s %q %q, %d points, %v", name, m.Name, m.Better, m.First, len(m.Points), m.Coarse)
				continue
			}
			for j, p := range m.Points {
				q := w.Points[j]
				if p.Size != q.Size || p.Datatype != q.Datatype || !near(p.Ours.Median, q.Ours.Median) || !near(p.Theirs.Median, q.Theirs.Median) ||
					!near(p.Ratio.Median, q.Ratio.Median) || !near(p.Ratio.Q1, q.Ratio.Q1) || !near(p.Ratio.Q3, q.Ratio.Q3) || !near(p.Floor, q.Floor) {
					t.Errorf("%s: %+v, want %+v", name, p, q)
				}
			}
		}
	}
}

func TestParseTextRefusesWhatIsNoComparison(t *testing.T) {
	const head = "# osu-go compare latency: 7 rounds, the two in turns.\n"
	const column = head + "# A(us): lower is better, a ratio below 1 speaks for ours\n# Size  Ours  Theirs  Ratio  Q1  Q3\n"
	for name, tc := range map[string][2]string{
		"no rows":         {head, "no rows"},
		"no rounds":       {"# osu-go compare latency: many rounds\n", "number of rounds"},
		"early figures":   {head + "1 2 3\n", "line 2: figures before"},
		"few figures":     {column + "1 2 3\n", "line 4: 2 figures"},
		"a size of 1.5":   {column + "1.5 2 3 1 1 1\n", `"1.5" is no size`},
		"words":           {column + "1 2 x 1 1 1\n", `"x" is no measurement`},
		"negative":        {column + "1 2 -3 1 1 1\n", "no measurement"},
		"not a number":    {column + "1 2 nan 1 1 1\n", "no measurement"},
		"odd quartiles":   {column + "1 2 3 1 2 3\n", "not between"},
		"a line too long": {column + strings.Repeat("#", 1<<17), "too long"},
	} {
		if r, err := ParseText([]byte(tc[0])); err == nil || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: %v, %v, want %q", name, r, err, tc[1])
		}
	}
	if IsText([]byte("# OSU MPI Latency Test v7.4\n")) {
		t.Error("a table is taken for a comparison")
	}
}

func FuzzParseText(f *testing.F) {
	var text bytes.Buffer
	if err := sample(true).WriteText(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	if b, err := os.ReadFile("../page/testdata/results/latency.mpich.txt"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseText(text)
		if err != nil {
			return
		}
		for _, m := range r.Metrics {
			for _, p := range m.Points {
				if !(p.Ratio.Q1 <= p.Ratio.Median && p.Ratio.Median <= p.Ratio.Q3) || p.Size < 0 || math.IsInf(p.Ours.Median, 0) || !(p.Ours.Median >= 0) {
					t.Errorf("%+v", p)
				}
			}
		}
		var again bytes.Buffer
		if err := r.WriteText(&again); err != nil {
			t.Error(err)
		}
	})
}
