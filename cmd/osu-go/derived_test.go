package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/osufmt"
)

func TestBlocksAreReadFromAFileOfOSU(t *testing.T) {
	for in, want := range map[string][]bench.Block{
		"0,4\n8,2":                              {{Disp: 0, Len: 4}, {Disp: 8, Len: 2}},
		"# displacement,length\n 8 , 2 \n\n#\n": {{Disp: 8, Len: 2}},
		"3,0\r\n1,1\r\n":                        {{Disp: 3, Len: 0}, {Disp: 1, Len: 1}},
		"":                                      nil,
	} {
		got, err := parseBlocks("f", strings.NewReader(in))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		"0,4\n8":                   `f:2: "8" is not a displacement and a length`,
		"a,4":                      `f:1: "a" is not a whole number`,
		"4,-1":                     "f:1: -1 is below 0",
		"# no\n\n-4,1":             "f:3: -4 is below 0",
		"1,99999999999":            "f:1: 99999999999 is above",
		strings.Repeat("x", 100):   "...",
		strings.Repeat("1", 1<<17): "token too long",
		strings.Repeat("0,0\n", bench.MaxBlocks+1): "at most 65536 blocks",
	} {
		if _, err := parseBlocks("f", strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", in, err, want)
		}
	}
}

func FuzzParseBlocks(f *testing.F) {
	f.Add("0,4\n# x\n8,2\n")
	f.Add("1,-1")
	f.Fuzz(func(t *testing.T, in string) {
		blocks, err := parseBlocks("f", strings.NewReader(in))
		if err == nil && len(blocks) > strings.Count(in, ",") {
			t.Errorf("%q: %v", in, blocks)
		}
		for _, b := range blocks {
			if b.Disp < 0 || b.Len < 0 || b.Disp > bench.MaxSize || b.Len > bench.MaxSize {
				t.Errorf("%q: %v", in, b)
			}
		}
	})
}

// Ranks that are processes read the file, and send what it says.
func TestDerivedMessagesBetweenProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blocks.txt")
	if err := os.WriteFile(file, []byte("# two\n40,24\n0,16\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		rows []osufmt.Row // size, and last what is sent
	}{
		{"latency -D indx:" + file, []osufmt.Row{{Size: 64, Values: []float64{40}}, {Size: 128, Values: []float64{40}}}},
		{"bw -D vect:48:8", []osufmt.Row{{Size: 32, Values: []float64{0}}, {Size: 64, Values: []float64{8}}, {Size: 128, Values: []float64{16}}}},
		{"alltoall -D vect:48:8", []osufmt.Row{{Size: 32, Values: []float64{0}}, {Size: 64, Values: []float64{8}}, {Size: 128, Values: []float64{16}}}},
		{"get_bw -s fence -D struct", []osufmt.Row{{Size: 32, Values: []float64{26}}, {Size: 64, Values: []float64{52}}, {Size: 128, Values: []float64{104}}}},
		{"bibw -D hand:48:8", []osufmt.Row{{Size: 32, Values: []float64{0}}, {Size: 64, Values: []float64{8}}, {Size: 128, Values: []float64{16}}}},
	} {
		status, out, errs := osuGo(t, append(strings.Fields(tc.args), "-m32:128", "-i2", "-x1", "-c")...)
		if status != 0 {
			t.Errorf("%s: status %d: %s", tc.args, status, errs)
			continue
		}
		tab, err := osufmt.Parse([]byte(out))
		if err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		s := tab.Sections[0]
		for i := range s.Rows {
			s.Rows[i].Values = s.Rows[i].Values[len(s.Columns)-1:]
		}
		if !slices.EqualFunc(s.Rows, tc.rows, func(a, b osufmt.Row) bool { return a.Size == b.Size && a.Values[0] == b.Values[0] }) || len(s.Columns) != 3 {
			t.Errorf("%s: %+v, want %+v", tc.args, s.Rows, tc.rows)
		}
	}
}

// A size is not what is sent with -D, so no floor is told beside it.
func TestDerivedResultsHaveNoFloor(t *testing.T) {
	for args, want := range map[string]bool{"latency --fabric mem -m 64 -i2 -x0 --json": true, "latency --fabric mem -m 64 -i2 -x0 --json -D cont": false} {
		status, out, errs := osuGo(t, strings.Fields(args)...)
		if status != 0 || strings.Contains(out, `"floor"`) != want {
			t.Errorf("%s: status %d: %s%s", args, status, out, errs)
		}
	}
}
