package datatype

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// peerCases is how many random types a C MPI is asked about.
const peerCases = 400

// TestACMPIPacksTheSameBytes compares random types with every C MPI that Debian
// has installed: sizes, bounds, packed bytes, external32, counts of elements.
func TestACMPIPacksTheSameBytes(t *testing.T) {
	found := 0
	for _, compiler := range []string{"mpicc.openmpi", "mpicc.mpich"} {
		path, err := exec.LookPath(compiler)
		if err != nil {
			continue
		}
		found++
		t.Run(compiler, func(t *testing.T) { comparePeer(t, path) })
	}
	switch {
	case found > 0:
	case os.Getenv("WEFT_CI") != "":
		t.Fatal("neither mpicc.openmpi nor mpicc.mpich is installed, and WEFT_CI says that nothing may be left out: install libopenmpi-dev or libmpich-dev")
	default:
		t.Skip("neither mpicc.openmpi nor mpicc.mpich is installed: install libopenmpi-dev or libmpich-dev")
	}
}

// drawTame draws elements that are not empty and do not overlap.
func drawTame(rt *rapid.T) sample {
	s := sampleOf(rt, drawTree(tame(rt), 4))
	if s.overlaps || len(s.packed) == 0 {
		rt.SkipNow()
	}
	return s
}

func comparePeer(t *testing.T, compiler string) {
	program := filepath.Join(t.TempDir(), "pack")
	if out, err := exec.Command(compiler, "-O1", "-o", program, filepath.Join("testdata", "pack.c")).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	samples := make([]sample, peerCases)
	var in strings.Builder
	for i := range samples {
		samples[i] = rapid.Custom(drawTame).Example(i)
		s := &samples[i]
		fmt.Fprintf(&in, "case %d %d %d %d%s\n", s.count, s.origin, len(s.mem), more(compiler, s.m), s.text)
	}
	cmd := exec.Command(program)
	cmd.Stdin = strings.NewReader(in.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(samples) {
		t.Fatalf("%d answers to %d cases\n%s", len(lines), len(samples), stderr.Bytes())
	}
	for i, line := range lines {
		if isMPICH(compiler) && samples[i].mixed() {
			continue
		}
		samples[i].compare(t, compiler, line)
	}
}

// more is 1 if the MPI can be asked for external32 and counts of elements. MPICH 4.0
// aborts in both. Open MPI 4.1 takes a pair for one element there.
func more(compiler string, m naive) int {
	if isMPICH(compiler) || slices.ContainsFunc(m, func(e entry) bool { return e.kind < lbMarker && traits[e.kind].pair }) {
		return 0
	}
	return 1
}

func isMPICH(compiler string) bool { return strings.HasSuffix(compiler, "mpich") }

// mixed reports whether a struct may have fields with markers and fields without.
// There MPICH takes the bounds of all fields. By MPI-4.0 §5.1.7 the markers alone
// count, as with Open MPI and here.
func (s *sample) mixed() bool {
	return strings.Contains(s.text, "struct") &&
		(strings.Contains(s.text, "resized") || strings.Contains(s.text, "array"))
}

// compare looks at what a C MPI says of a sample.
func (s *sample) compare(t *testing.T, compiler, line string) {
	t.Helper()
	if strings.HasPrefix(line, "failed") {
		t.Errorf("%s:%s", line, s.text)
		return
	}
	var size, lb, extent, trueLB, trueExtent int
	var packed, ext string
	if _, err := fmt.Sscan(line, &size, &lb, &extent, &trueLB, &trueExtent, &packed, &ext); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	if size != s.t.Size() {
		t.Errorf("the size is %d, ours %d:%s", size, s.t.Size(), s.text)
	}
	// MPICH 4.0 moves the true bounds of a darray by where the old type begins.
	odd := isMPICH(compiler) && strings.Contains(s.text, "darray")
	if l, e := s.t.TrueExtent(); (l != trueLB || e != trueExtent) && !odd {
		t.Errorf("true lb and extent are %d and %d, ours %d and %d:%s", trueLB, trueExtent, l, e, s.text)
	}
	if l, e := s.t.Extent(); l != lb || e != extent {
		t.Errorf("lb and extent are %d and %d, ours %d and %d:%s", lb, extent, l, e, s.text)
	}
	if want := "x" + hex.EncodeToString(s.packed); packed != want {
		t.Errorf("packed as\n%s, ours is\n%s:%s", packed, want, s.text)
	}
	ours := make([]byte, len(s.packed))
	if _, err := PackExternal(s.t, s.count, s.mem, s.origin, ours, 0); err != nil {
		t.Fatal(err)
	}
	if want := "x" + hex.EncodeToString(ours); ext != want && ext != "x" {
		t.Errorf("external32 is\n%s, ours\n%s:%s", ext, want, s.text)
	}
	for bytes, elements := range strings.Fields(line)[7:] {
		n, ok := s.t.CountElements(bytes)
		if !ok {
			n = -1
		}
		if fmt.Sprint(n) != elements {
			t.Errorf("%d bytes have %s elements, ours %d:%s", bytes, elements, n, s.text)
		}
	}
}
