package abitest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rounds is how often the long tests run each program.
const rounds = 5

var wanted = regexp.MustCompile(`\branks:((?: +\d+)+)`)

// ranks reads on how many ranks a program runs from its first comment.
func ranks(t *testing.T, source string) (all []int) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "*/")
	m := wanted.FindStringSubmatch(comment)
	if m == nil {
		t.Fatalf("%s: its first comment does not say on how many ranks it runs, as in \"ranks: 1 2 5\"", source)
	}
	for word := range strings.FieldsSeq(m[1]) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// The gate runs each program once on the ranks that it names, two at most unless it wants
// more. The long tests run it on all, and five times.
func TestPrograms(t *testing.T) {
	dir := filepath.Join(root, "cmd", "libmpi-abi", "testdata")
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no programs in %s: %v", dir, err)
	}
	for _, source := range sources {
		t.Run(strings.TrimSuffix(filepath.Base(source), ".c"), func(t *testing.T) {
			t.Parallel()
			all, program := ranks(t, source), compile(t, "mpicc", source, "-pthread", "-lm")
			for i, n := range all {
				if testing.Short() && n > 2 && i > 0 {
					continue
				}
				t.Run(strconv.Itoa(n), func(t *testing.T) {
					for i := 0; i < rounds && !t.Failed(); i++ {
						silent(t, n, program)
						if testing.Short() {
							break
						}
					}
				})
			}
		})
	}
}
