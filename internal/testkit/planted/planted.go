// Package planted proves that tests find mistakes: it plants bugs in the product,
// one at a time, and runs tests that have to fail for each. For the tests of other
// packages.
package planted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Bug is one replacement of text in the product.
type Bug struct {
	Name     string
	File     string // from the package, or from the module's root
	Old, New string // Old stands in the file exactly once
}

// Tests is how the tests of a package are built and run.
type Tests struct {
	Tags    string   // build tags
	Sim     string   // the simulation of Simulate, "TestSim" unless set
	Run     string   // the tests that find a bug of Hunt which names none
	Timeout string   // as -test.timeout takes it, "10m" unless set
	Args    []string // for the test binary, besides those of a bug
}

// Find plants a bug in the package that is being tested, runs its tests with args
// and returns what they have said, and err if they have failed. Without a bug it
// is the product as it is. A bug that can't be planted, since the product's text
// has changed, is stale: t is skipped.
func (s Tests) Find(t *testing.T, b *Bug, args ...string) (out []byte, err error) {
	t.Helper()
	args = append(append(args, "-test.timeout", cmp.Or(s.Timeout, "10m")), s.Args...)
	return exec.Command(s.build(t, b), args...).CombinedOutput()
}

// build makes the test binary, with one file replaced.
func (s Tests) build(t *testing.T, b *Bug) (binary string) {
	t.Helper()
	dir := t.TempDir()
	binary = filepath.Join(dir, "planted.test")
	args := []string{"test", "-c", "-vet=off", "-ldflags", "-s -w", "-tags", s.Tags, "-o", binary}
	if b != nil {
		args = append(args, "-overlay", overlay(t, dir, b))
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return binary
}

// overlay has the go command read the file with the bug in it.
func overlay(t *testing.T, dir string, b *Bug) (file string) {
	t.Helper()
	path, err := filepath.Abs(b.File)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		mod, err := exec.Command("go", "env", "GOMOD").Output()
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(filepath.Dir(string(mod)), b.File)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(src, []byte(b.Old)); n != 1 {
		t.Skipf("stale: %s: %s has the text %d times: %q", b.Name, b.File, n, b.Old)
	}
	mutant, file := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{mutant: bytes.Replace(src, []byte(b.Old), []byte(b.New), 1), file: list} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// List is bugs, a row each: its name, its file, the old and the new text, as in Bug,
// and the tests that find it, as -test.run takes them, unless they are those of Tests.Run.
type List [][5]string

// failed is how a test says that it has found a bug. The end of a test that hangs
// has neither line.
var failed = regexp.MustCompile(`--- FAIL: (\S+)|broken invariant: (.*)`)

// Hunt runs the tests of each bug, in a subtest: one of them has to fail, and none
// may fail where nothing is planted. A test that hangs until s's time limit has not
// found its bug.
func (s Tests) Hunt(t *testing.T, bugs List) {
	var all []string
	for _, b := range bugs {
		run := cmp.Or(b[4], s.Run)
		if !slices.Contains(all, run) {
			all = append(all, run)
		}
		t.Run(b[0], func(t *testing.T) {
			t.Parallel()
			out, err := s.Find(t, &Bug{Name: b[0], File: b[1], Old: b[2], New: b[3]}, "-test.run", run)
			if err == nil {
				t.Fatalf("%s has not found it", run)
			}
			m := failed.Find(out)
			if m == nil {
				t.Fatalf("no test has failed: %v\n%s", err, Tail(out))
			}
			t.Logf("%s", m)
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, err := s.Find(t, nil, "-test.run", strings.Join(all, "|")); err != nil {
			t.Errorf("%v\n%s", err, Tail(out))
		}
	})
}

// Seeded is a row of bugs that a simulation has to find within so many seeds.
type Seeded struct {
	Name, File, Old, New string // as in Bug
	Seeds                int    // 1000 unless set
}

// seed is how a simulation says that it has found a bug.
var seed = regexp.MustCompile(`seed (\d+): (.*)`)

// Simulate runs the package's simulation for each bug, in a subtest: a seed has to
// fail, and none may fail where nothing is planted. B is a Seeded under a name of the
// package.
func Simulate[B ~struct {
	Name, File, Old, New string
	Seeds                int
}](t *testing.T, s Tests, bugs []B) {
	sim, most := "^"+cmp.Or(s.Sim, "TestSim")+"$", 0
	for _, b := range bugs {
		b := Seeded(b)
		seeds := cmp.Or(b.Seeds, 1000)
		most = max(most, seeds)
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			out, err := s.Find(t, &Bug{Name: b.Name, File: b.File, Old: b.Old, New: b.New}, "-test.run", sim, "-seeds", strconv.Itoa(seeds))
			if err == nil {
				t.Fatalf("%d seeds have not found it", seeds)
			}
			found := seed.FindAllSubmatch(out, -1)
			if found == nil {
				t.Fatalf("no seed failed: %v\n%s", err, Tail(out))
			}
			last := found[len(found)-1]
			t.Logf("seed %s: %s", last[1], last[2])
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, err := s.Find(t, nil, "-test.run", sim, "-seeds", strconv.Itoa(most)); err != nil {
			t.Errorf("%v\n%s", err, Tail(out))
		}
	})
}

// Tail is the end of what a test has said.
func Tail(out []byte) []byte { return out[max(0, len(out)-4000):] }
