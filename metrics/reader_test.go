package metrics_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// What ranks encode is read as it was, histograms too.
func TestSnapshotsAreReadAsTheyWere(t *testing.T) {
	var r metrics.Reader
	for rank, s := range start(t, "shm").all() {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Read(b)
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		for i := range s.Families {
			if want := s.Families[i]; want.Labels == nil {
				for k := range want.Rows {
					want.Rows[k].Values = nil
				}
			}
		}
		if !reflect.DeepEqual(got, s) {
			t.Errorf("rank %d: %+v instead of %+v", rank, got, s)
		}
	}
}

// family is the JSON of one family.
func family(name, rest string) string {
	return fmt.Sprintf(`{"Families":[{"Name":%q,"Help":"A.",%s}]}`, name, rest)
}

const oneRow = `"Rows":[{"Values":null,"Value":1}]`

func TestWhatCanNotBeShownIsRefused(t *testing.T) {
	big := strings.Repeat("x", 1025)
	for text, want := range map[string]string{
		family("weft_a_total", oneRow): "",
		`{}`:                           "",
		`{"Families":[]}`:              "",
		`{"Later":1,` + family("weft_a_total", oneRow)[1:]: "",
		``:        "unexpected end",
		`null, 7`: "invalid character",
		`7`:       "cannot unmarshal",
		family("weft_a_total", `"Rows":[{"Value":-1}]`):                                                            "cannot unmarshal",
		family("weft_a_total", `"Rows":[{"Value":1e300}]`):                                                         "cannot unmarshal",
		family("up", oneRow):                                                                                       "no name of a family",
		family("weft_", oneRow):                                                                                    "no name of a family",
		family("weft_a\nb", oneRow):                                                                                "no name of a family",
		family("weft_A", oneRow):                                                                                   "no name of a family",
		family("weft_"+big, oneRow):                                                                                "no name of a family",
		family("weft_up", oneRow):                                                                                  "no name of a family",
		family("weft_build_info", oneRow):                                                                          "no name of a family",
		family("weft_a_total", `"Rows":[]`):                                                                        "is empty",
		family("weft_a_total", `"Help":"`+big+`",`+oneRow):                                                         "is no text",
		family("weft_a_total", `"Labels":["x"],"Rows":[{"Values":["\u001b[2J"]}]`):                                 "label that is no text",
		family("weft_a_total", `"Rows":[{"Value":1`+strings.Repeat("0", 5000)+`}]`):                                "...",
		family("weft_a_total", `"Help":"\u0000",`+oneRow):                                                          "is no text",
		family("weft_a_total", `"Unit":"meters",`+oneRow):                                                          "a unit is bytes or seconds",
		family("weft_a_total", `"Labels":["x"],`+oneRow):                                                           "1 labels and a count with 0",
		family("weft_a_total", `"Rows":[{"Values":["y"],"Value":1}]`):                                              "0 labels and a count with 1",
		family("weft_a_total", `"Labels":["rank"],"Rows":[{"Values":["0"]}]`):                                      "can't be a label",
		family("weft_a_total", `"Labels":["le"],"Rows":[{"Values":["0"]}]`):                                        "can't be a label",
		family("weft_a_total", `"Labels":["x y"],"Rows":[{"Values":["0"]}]`):                                       "can't be a label",
		family("weft_a_total", `"Labels":["x","x"],"Rows":[{"Values":["0","1"]}]`):                                 "can't be a label",
		family("weft_a_total", `"Labels":["x"],"Rows":[{"Values":["`+big+`"]}]`):                                   "label that is no text",
		family("weft_a_total", `"Labels":["x"],"Rows":[{"Values":["y"]},{"Values":["y"]}]`):                        "twice",
		family("weft_a_bytes", `"Rows":[{"Value":1,"Buckets":[1]},{"Value":1}]`):                                   "histogram in part",
		`{"Families":[` + strings.Repeat(`{"Name":"weft_a","Rows":[{"Value":1}]},`, 256) + `{"Name":"weft_a"}]}`:   "257 families are too many",
		`{"Families":[{"Name":"weft_a","Rows":[{"Value":1}]},{"Name":"weft_a","Rows":[{"Value":1}]}]}`:             "two families weft_a",
		family("weft_a_total", `"Labels":["x"],"Rows":[`+strings.Repeat(`{"Values":["y"]},`, 1024)+`{"Value":1}]`): "more than 1024 counts",
		strings.Repeat(" ", 1<<20) + `{}`:                                                                          "are too many",
	} {
		var r metrics.Reader
		_, err := r.Read([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.200s: %v, want %q", text, err, want)
		}
	}
}

// A family that ranks define in two ways would fail the scrapes of both.
func TestRanksAgreeOnFamilies(t *testing.T) {
	const good = `"Labels":["x"],"Rows":[{"Values":["y"],"Value":1}]`
	for _, c := range []struct{ name, rest string }{
		{"another help", good + `,"Help":"B."`}, {"another unit", good + `,"Unit":"bytes"`}, {"a gauge", good + `,"Gauge":true`},
		{"other labels", `"Labels":["z"],"Rows":[{"Values":["y"],"Value":1}]`},
		{"a histogram", `"Labels":["x"],"Rows":[{"Values":["y"],"Value":1,"Buckets":[1]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r metrics.Reader
			for _, b := range []string{family("weft_a_total", good), family("weft_b_total", good)} {
				if _, err := r.Read([]byte(b)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Read([]byte(family("weft_a_total", c.rest))); err == nil || !strings.Contains(err.Error(), "another one than that of an earlier rank") {
				t.Error(err)
			}
			if _, err := r.Read([]byte(family("weft_a_total", good))); err != nil {
				t.Errorf("a rank that is as the first: %v", err)
			}
		})
	}
}

// Whatever is read can be shown, beside any other rank.
func FuzzReader(f *testing.F) {
	for _, s := range []string{family("weft_a_total", oneRow), family("weft_b_bytes", `"Unit":"bytes","Gauge":true,"Labels":["x"],"Rows":[{"Values":["y"],"Value":1,"Buckets":[1,2]}]`), "{", ""} {
		f.Add([]byte(s), []byte(family("weft_b_bytes", `"Rows":[{"Value":18446744073709551615}]`)))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var r metrics.Reader
		all := map[int]counters.Snapshot{}
		for rank, text := range [][]byte{a, b} {
			if s, err := r.Read(text); err == nil {
				all[rank] = s
			}
		}
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(metrics.RanksCollector(func() map[int]counters.Snapshot { return all }, nil))
		if _, err := reg.Gather(); err != nil {
			t.Errorf("%s\n%s\n%v", a, b, err)
		}
	})
}
