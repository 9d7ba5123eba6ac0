package osufmt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// tables are the contents of testdata/*.txt, which are as OSU 7.4 prints them.
var tables = []struct {
	file  string
	title Title
	sec   []Section
}{
	{"latency", Title{Name: "OSU MPI Latency Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{AvgLatency},
		Rows:     []Row{{1, []float64{1.54}}, {4194304, []float64{497.371}}},
	}}},
	{"latency_valid_tail", Title{Name: "OSU MPI Latency Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{AvgLatency, Validation, TailLatency(50), TailLatency(99), TailLatency(5)},
		Rows:     []Row{{8, []float64{0.2, 0, 0.19, 0.5, 0.1}}, {16, []float64{0.2, 3, 0.19, 12.25, 0.1}}},
	}}},
	{"latency_all_types", Title{Name: "OSU MPI Latency Test"}, []Section{
		{Datatype: "MPI_CHAR", Columns: []Column{AvgLatency}, Rows: []Row{{1, []float64{0.2}}}},
		{Datatype: "MPI_INT", Columns: []Column{AvgLatency}, Rows: []Row{{4, []float64{0.25}}}},
	}},
	{"bw", Title{Name: "OSU MPI Bandwidth Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{Bandwidth, TailBandwidth(50), TailBandwidth(99)},
		Rows:     []Row{{1, []float64{10.25, 9, 11}}, {2048, []float64{11220.21, 11000, 12000}}},
	}}},
	{"bw_valid_tail", Title{Name: "OSU MPI Bandwidth Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{Bandwidth, Validation, TailBandwidth(50)},
		Rows:     []Row{{1, []float64{3.46, 0, 3.41}}},
	}}},
	{"latency_ddt", Title{Name: "OSU MPI Latency Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{AvgLatency, Validation, TailLatency(99), TransmitSize},
		Rows:     []Row{{64, []float64{0.2, 0, 0.5, 0}}, {2097152, []float64{497.371, 0, 512.25, 1048576}}},
	}}},
	{"mbw_mr", Title{Name: "OSU MPI Multiple Bandwidth / Message Rate Test",
		After: []string{"[ pairs: 1 ] [ window size: 64 ]"}, Tight: true}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{MBs, MessagesS},
		Rows:     []Row{{1, []float64{2.36, 2356892.44}}, {4194304, []float64{26903.29, 6414.24}}},
	}}},
	{"latency_mt", Title{Name: "OSU MPI Multi-threaded Latency Test",
		Before: []string{"Number of Sender threads: 1 ", "Number of Receiver threads: 2"}}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{AvgLatency},
		Rows:     []Row{{1, []float64{2.19}}},
	}}},
	{"barrier", Title{Name: "OSU MPI Barrier Latency Test"}, []Section{{
		NoSize:  true,
		Columns: []Column{AvgLatency},
		Rows:    []Row{{0, []float64{1.41}}},
	}}},
	{"barrier_full", Title{Name: "OSU MPI Barrier Latency Test"}, []Section{{
		NoSize:  true,
		Columns: []Column{AvgLatency, MinLatency, MaxLatency, Iterations},
		Rows:    []Row{{0, []float64{1.41, 1.4, 1.42, 1000}}},
	}}},
	{"matching", Title{Name: "Weft MPI Matching Test", Own: true,
		After: []string{"[ queue: posted ] [ batch: 64 ]"}}, []Section{{
		Datatype: "MPI_CHAR",
		First:    "Depth",
		Columns:  []Column{MatchTime},
		Rows:     []Row{{1, []float64{75.123}}, {65536, []float64{90.5}}},
	}}},
	{"overlap", Title{Name: "Weft MPI Overlap Test", Own: true,
		After: []string{"[ computing: receiver ] [ work: 2 of the pure communication ]"}}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{Overall, Compute, PureComm, Overlap, Validation},
		Rows:     []Row{{8192, []float64{3.15, 2.01, 1.2, 5, 0}}, {4194304, []float64{900.5, 600.25, 300.125, 0, 0}}},
	}}},
	{"partitioned", Title{Name: "Weft MPI Partitioned Test", Own: true,
		After: []string{"[ partitions: 16 ] [ threads: 1 ] [ late by: 1 ms ]"}}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{Round, Plain, OnePart, Last, PlainLast, Perceived},
		Rows:     []Row{{1024, []float64{1.5, 0.75, 0.25, 0.5, 1, 2048}}, {4194304, []float64{400.25, 300.5, 10, 32, 310, 131072}}},
	}}},
	{"async", Title{Name: "Weft MPI Asynchronous Progress Test", Own: true,
		After: []string{"[ operation: ssend ] [ computation: 20 ms ]"}}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{Median, Max},
		Rows:     []Row{{8, []float64{10250.5, 20001.125}}, {1048576, []float64{10300, 20100.25}}},
	}}},
	{"latency_persistent", Title{Name: "OSU MPI Latency Persistent Test"}, []Section{{
		Datatype: "MPI_CHAR",
		Columns:  []Column{AvgLatency},
		Rows:     []Row{{8, []float64{0.25}}},
	}}},
	{"cpu", Title{Name: "Weft MPI Idle CPU Test", Own: true}, []Section{{
		NoSize:  true,
		Left:    true,
		Columns: []Column{WallTime, CPUTime, CoreShare},
		Rows:    []Row{{0, []float64{5.0004, 0.00123, 0.0246}}},
	}}},
}

func TestWriterPrintsOSULayoutToTheLetter(t *testing.T) {
	for _, tc := range tables {
		t.Run(tc.file, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", tc.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			w := NewWriter(&got)
			w.Title(tc.title)
			for _, s := range tc.sec {
				w.Section(s)
				for _, r := range s.Rows {
					w.Row(r)
				}
			}
			if err := w.Line(""); err != nil {
				t.Fatal(err)
			}
			if g := got.String(); g != string(want)+"\n" {
				t.Errorf("got:\n%s\nwant:\n%s", g, want)
			}
		})
	}
}

func TestParseReadsWhatWriterPrints(t *testing.T) {
	for _, tc := range tables {
		t.Run(tc.file, func(t *testing.T) {
			out, err := os.ReadFile(filepath.Join("testdata", tc.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(out)
			if err != nil {
				t.Fatal(err)
			}
			if got.Title != tc.title.Name && got.Title != tc.title.Name+" v"+Version {
				t.Errorf("title %q", got.Title)
			}
			if len(got.Sections) != len(tc.sec) {
				t.Fatalf("%d sections, want %d", len(got.Sections), len(tc.sec))
			}
			for i, s := range got.Sections {
				want := tc.sec[i]
				if s.Datatype != want.Datatype || s.NoSize != want.NoSize || len(s.Columns) != len(want.Columns) || len(s.Rows) != len(want.Rows) {
					t.Errorf("section %d: %+v, want %+v", i, s, want)
					continue
				}
				for j, c := range s.Columns {
					w := want.Columns[j]
					if c.Name != w.Name || c.Kind != w.Kind && w.Kind != Float4 || c.Better != w.Better {
						t.Errorf("column %d: %+v, want %+v", j, c, w)
					}
				}
				for j, r := range s.Rows {
					if r.Size != want.Rows[j].Size {
						t.Errorf("row %d: size %d", j, r.Size)
					}
				}
			}
		})
	}
}

func TestParseToleratesOtherVersionsAndNoise(t *testing.T) {
	in := `Warning: Permanently added '10.0.0.1' to the list of known hosts.
2 more processes have sent help message help-mpi.txt
# a comment about bandwidth and latency, (all of it)
# OSU MPI Bi-Directional Bandwidth Test v7.1
# Size      Bandwidth (MB/s)
# Datatype: MPI_CHAR.
1                       6.10

# a comment in between
2                      12.01
[node1] one more warning
`
	got, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []Section{{
		Datatype: "MPI_CHAR",
		First:    "Size",
		Columns:  []Column{{Name: "Bandwidth (MB/s)", Key: "bandwidth_mb_s", Better: Higher, Decimals: 2}},
		Rows:     []Row{{1, []float64{6.10}}, {2, []float64{12.01}}},
	}}
	if !reflect.DeepEqual(got.Sections, want) {
		t.Errorf("got %+v\nwant %+v", got.Sections, want)
	}
}

func TestParseRefusesWhatIsNoTable(t *testing.T) {
	for name, in := range map[string]string{
		"empty":             "",
		"no row":            "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n",
		"no header":         "1      2.0\n",
		"too many values":   "# Size       Avg Latency(us)\n1   2.0   3.0\n",
		"too few values":    "# Size       Avg Latency(us)\n1\n",
		"negative size":     "# Size       Avg Latency(us)\n-1 3\n",
		"not a number":      "# Size       Avg Latency(us)\n1 nan\n",
		"infinite":          "# Size       Avg Latency(us)\n1 inf\n",
		"text of a failure": "mpirun was unable to find the executable\n",
	} {
		if got, err := Parse([]byte(in)); err == nil {
			t.Errorf("%s: parsed as %+v", name, got)
		} else if name == "empty" && !errors.Is(err, ErrNoTable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRowWithTheWrongNumberOfValuesIsAnError(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Section(Section{Columns: []Column{AvgLatency}})
	if err := w.Row(Row{1, []float64{1, 2}}); err == nil {
		t.Error("no error")
	}
	if err := w.Row(Row{1, []float64{1}}); err == nil {
		t.Error("the error did not stick")
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, n := range files {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Parse(in)
		if err != nil {
			return
		}
		rows := 0
		for _, s := range got.Sections {
			if len(s.Columns) == 0 {
				t.Error("a section without columns")
			}
			for _, r := range s.Rows {
				rows++
				if len(r.Values) != len(s.Columns) || r.Size < 0 {
					t.Errorf("row %+v under %+v", r, s.Columns)
				}
			}
		}
		if rows == 0 {
			t.Error("no row and no error")
		}
	})
}
