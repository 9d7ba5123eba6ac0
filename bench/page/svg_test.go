package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/spread"
)

// sample is a made-up comparison of many sizes.
func sample(ours, theirs string, columns ...string) *compare.Result {
	r := &compare.Result{Benchmark: "latency", Rounds: 7, Ours: "osu-go latency", Names: [2]string{ours, theirs},
		Theirs: "mpirun.openmpi -n 2 --bind-to core bench/peers/bin/latency.openmpi"}
	var points []compare.Point
	for n := 1; n <= 4<<20; n *= 2 {
		a, b := 0.09+float64(n)/30e3, 0.16+float64(n)/12e3
		wave := 1 + 0.05*math.Sin(float64(len(points)))
		points = append(points, compare.Point{Size: n,
			Ours:   spread.Of([]float64{a * 0.95, a, a * 1.1 * wave}),
			Theirs: spread.Of([]float64{b * 0.97, b * wave, b * 1.2}),
			Ratio:  spread.Of([]float64{a / b * 0.9, a / b, a / b * 1.1 * wave}),
			Floor:  0.05 + float64(n)/40e3})
	}
	for _, name := range columns {
		better := "lower is better"
		if name == "MB/s" {
			better = "higher is better"
		}
		r.Metrics = append(r.Metrics, compare.Metric{Name: name, Better: better, First: "Size", Points: points})
	}
	return r
}

func svgOf(t testing.TB, r *compare.Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSVG(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSVGIsWellFormedAndSaysWhatItShows(t *testing.T) {
	for name, r := range map[string]*compare.Result{
		"latency": sample("osu-go", "theirs", "Avg Latency(us)"), "rates": sample("osu-go", "theirs", "Avg Latency(us)", "MB/s"),
		"hostile": sample("osu-go", "theirs <b> & \"'\x1b\xff", "Avg Latency(us)"), "alike": sample("osu-go", "osu-go", "Avg Latency(us)"),
	} {
		svg := svgOf(t, r)
		var text strings.Builder
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			tok, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: not well-formed: %v", name, err)
			}
			if c, ok := tok.(xml.CharData); ok {
				text.WriteString(strings.TrimSpace(string(c)) + "\n")
			}
		}
		for _, want := range []string{"latency: osu-go and ", "median of 7 rounds", "osu-go", "theirs", "mpirun.openmpi", "floor: cache line and one copy", "Avg Latency",
			"µs, lower is better", "osu-go to ", "ratio, below 1 osu-go is better", "Message size (bytes)", "4K"} {
			if !strings.Contains(text.String(), want) && !(name == "alike" && want == "theirs") {
				t.Errorf("%s: no %q in the drawing", name, want)
			}
		}
		if got, want := strings.Count(svg, `class="drawing"`), 2*len(r.Metrics); got != want {
			t.Errorf("%s: %d drawings, want %d", name, got, want)
		}
		for _, bad := range []string{"NaN", "Inf", "var(", "below has"} {
			if strings.Contains(svg, bad) {
				t.Errorf("%s: %s in the drawing", name, bad)
			}
		}
		curves := regexp.MustCompile(`class="curve (s\d)" d`).FindAllStringSubmatch(svg, -1)
		if len(curves) < 3 || slices.Equal(curves[0], curves[1]) {
			t.Errorf("%s: the curves are %v", name, curves)
		}
	}
}

func TestASingleValueCannotBeDrawn(t *testing.T) {
	one := spread.Of([]float64{1})
	for _, m := range [][]compare.Metric{nil, {{Name: "Avg Latency(us)", Points: []compare.Point{{Ours: one, Theirs: one, Ratio: one}}}}} {
		if err := WriteSVG(io.Discard, &compare.Result{Metrics: m}); !errors.Is(err, ErrNothingToDraw) {
			t.Error(err)
		}
	}
}
