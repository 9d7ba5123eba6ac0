//go:build bugs

package pt2pt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bug is a mistake that the simulation has to find within so many seeds. Old
// stands in the file exactly once.
type bug struct {
	name, file, old, new string
	seeds                int
}

// build makes the test binary of this package with one file replaced.
func build(t *testing.T, file, src string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"test", "-c", "-ldflags", "-s -w", "-o", filepath.Join(dir, "sim.test")}
	if file != "" {
		path, err := filepath.Abs(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
		j, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{mutant: []byte(src), overlay: j} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return filepath.Join(dir, "sim.test")
}

// simulate runs the simulation of a binary.
func simulate(binary string, seeds int) ([]byte, error) {
	return exec.Command(binary, "-test.run", "^TestSim$", "-test.timeout", "20m", "-seeds", fmt.Sprint(seeds)).CombinedOutput()
}

var found = regexp.MustCompile(`seed (\d+): (.*)`)

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	most := 0
	for _, b := range bugs {
		most = max(most, b.seeds)
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(filepath.Join("..", b.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(src, []byte(b.old)); n != 1 {
				t.Fatalf("%s has the text %d times: %q", b.file, n, b.old)
			}
			out, err := simulate(build(t, b.file, strings.Replace(string(src), b.old, b.new, 1)), b.seeds)
			if err == nil {
				t.Fatalf("%d seeds have not found it", b.seeds)
			}
			ms := found.FindAllSubmatch(out, -1)
			if ms == nil {
				t.Fatalf("no seed failed: %v\n%s", err, out[max(0, len(out)-2000):])
			}
			m := ms[len(ms)-1]
			t.Logf("seed %s: %s", m[1], m[2])
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, err := simulate(build(t, "", ""), most); err != nil {
			t.Errorf("%v\n%s", err, out[max(0, len(out)-4000):])
		}
	})
}
