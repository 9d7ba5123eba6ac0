package lint

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the documents about the code, with the most bytes that those with a limit
// have: what is about one package stands in its package comment.
var pages = map[string]int{"ARCHITECTURE.md": 12288, "CONTRIBUTING.md": 8192, "RATIONALE.md": 0, "docs/extending.md": 0}

var (
	quoted = regexp.MustCompile("`([^`\n]+)`")
	named  = regexp.MustCompile(`^[\w.*/-]+$`)
)

// paths are the words in backticks that name a file, a folder, a pattern of these, or a
// module: those with a slash, and those that end in .go.
func paths(page string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			word = word[strings.LastIndexByte(word, '=')+1:] // BUGS=./rma
			if named.MatchString(word) && !path.IsAbs(word) && (strings.Contains(word, "/") || path.Ext(word) == ".go") {
				all = append(all, path.Clean(strings.TrimSuffix(word, "...")))
			}
		}
	}
	return all
}

func TestPagesAreShortAndNameWhatIsThere(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string // of Go, without their folders
	sources(t, func(name string, _ []byte, _ *ast.File) { files = append(files, path.Base(name)) })
	there := func(name string) bool {
		if path.Ext(name) == ".go" && !strings.Contains(name, "/") {
			return slices.ContainsFunc(files, func(file string) bool { ok, _ := path.Match(name, file); return ok })
		}
		found, _ := filepath.Glob(filepath.Join(root, name))
		return len(found) > 0 || strings.Contains(string(mod), name+" v")
	}
	for page, most := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		if most > 0 && len(text) > most {
			t.Errorf("%s has %d bytes, the most is %d: move what is about one package to its doc.go", page, len(text), most)
		}
		for _, name := range paths(string(text)) {
			if !there(name) {
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
	}
	for name, want := range map[string]bool{"rma": true, "rma/lane.go": true, "rma/*_test.go": true, "golang.org/x/sys": true, "*_unsafe.go": true,
		"nowhere": false, "rma/nowhere.go": false, "rma/nowhere_*.go": false, "golang.org/x/sy": false, "nowhere.go": false} {
		if there(name) != want {
			t.Errorf("%s is there: %t, want %t", name, !want, want)
		}
	}
}

func TestPathsOfAPageAreSeen(t *testing.T) {
	page := "`make bugs BUGS=./rma/...` and `doc.go`, rma/lane.go, `/dev/shm`, `mpi.Run`\n`bench/a_*.go` `a(b/c)` `go test ./mpi -run 'A/b'` `mpi://WORLD`"
	if got, want := paths(page), []string{"rma", "doc.go", "bench/a_*.go", "mpi"}; !slices.Equal(got, want) {
		t.Errorf("the paths are %q, want %q", got, want)
	}
}
