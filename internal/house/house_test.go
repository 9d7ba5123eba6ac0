// Package house keeps the rules of ARCHITECTURE.md that a compiler does not:
// who imports whom, where unsafe and cgo live, how long a file may be, and how
// long a test waits.
package house

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weft-mpi/weft"

// table says which packages of the module each package may import, tests
// apart. A package that is not here may not exist.
var table = map[string][]string{
	"fabric":        nil,
	"fabric/shm":    {"fabric"},
	"fabric/tcp":    {"fabric"},
	"fabric/verbs":  {"fabric", "fabric/internal/greet", "fabric/verbs/internal/ibv", "fabric/verbs/internal/pin"},
	"fabric/mem":    {"fabric"},
	"fabric/faulty": {"fabric"},

	"fabric/fabrictest":         {"fabric"},
	"fabric/internal/greet":     nil,
	"fabric/verbs/internal/ibv": nil,
	"fabric/verbs/internal/pin": {"fabric", "fabric/verbs/internal/ibv"},

	"wire":        nil,
	"match":       nil,
	"boot":        nil,
	"progress":    {"fabric", "wire"},
	"pt2pt":       {"fabric", "progress", "match", "wire"},
	"partitioned": {"fabric", "progress", "match", "wire"},
	"rma":         {"fabric", "progress", "match", "wire"},
	"coll":        {"pt2pt", "progress"},
	"mpi": {"fabric", "fabric/shm", "fabric/tcp", "fabric/verbs", "fabric/mem", "wire", "match", "progress",
		"pt2pt", "partitioned", "rma", "coll", "boot"},
	"metrics": {"progress", "fabric"},

	"bench":           {"mpi", "fabric", "bench/..."},
	"bench/...":       {"bench/..."},
	"cmd/osu-go":      {"mpi", "bench", "bench/...", "boot"},
	"cmd/weft":        {"mpi", "boot"},
	"internal/...":    nil,
	"examples/...":    {"mpi"},
	"bench/peers/...": nil,
}

// foreign says which modules besides the standard library a package may
// import. Everything else gets none.
var foreign = map[string][]string{
	"fabric/shm":   {"golang.org/x/sys/unix"},
	"fabric/tcp":   {"golang.org/x/sys/unix", "github.com/libp2p/go-reuseport"},
	"fabric/verbs": {"golang.org/x/sys/unix"},

	"fabric/verbs/internal/ibv": {"golang.org/x/sys/unix"},
	"fabric/verbs/internal/pin": {"golang.org/x/sys/unix"},

	"progress":   {"golang.org/x/sys/unix"},
	"boot":       {"golang.org/x/sys/unix"},
	"mpi":        {"golang.org/x/sys/unix"},
	"metrics":    {"github.com/prometheus/client_golang/..."},
	"bench":      {"..."},
	"bench/...":  {"..."},
	"cmd/osu-go": {"..."},
	"cmd/weft":   {"..."},
}

// goList asks the go command about the packages of the module.
func goList(t *testing.T) (packages []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,IgnoredGoFiles,CgoFiles,Standard", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 8 {
		t.Fatalf("go list knows %d packages only", len(packages))
	}
	return packages
}

type pkg struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
	GoFiles, IgnoredGoFiles, CgoFiles  []string
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// entry finds what a table says of a package: by its name, or by the longest
// pattern.
func entry(t map[string][]string, name string) (allowed []string, ok bool) {
	if allowed, ok = t[name]; ok {
		return allowed, true
	}
	for dir := name; dir != "."; {
		dir = filepath.Dir(dir)
		if allowed, ok = t[dir+"/..."]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func allows(allowed []string, path string) bool {
	for _, a := range allowed {
		dir, pattern := strings.CutSuffix(a, "...")
		if path == a || pattern && (strings.HasPrefix(path, dir) || path+"/" == dir) {
			return true
		}
	}
	return false
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	for _, p := range goList(t) {
		if p.ImportPath == module {
			continue
		}
		ours, ok := entry(table, p.name())
		if !ok {
			t.Errorf("package %s is not in the table: say what it may import", p.name())
			continue
		}
		others, _ := entry(foreign, p.name())
		for _, path := range p.Imports {
			if path == "C" {
				continue // see the test on cgo
			}
			if name, our := strings.CutPrefix(path, module+"/"); our {
				if !allows(ours, name) {
					t.Errorf("%s imports %s, which the table does not allow", p.name(), name)
				}
			} else if !standard(path) && !allows(others, path) {
				t.Errorf("%s imports %s: it may use the standard library and %v", p.name(), path, others)
			}
		}
	}
}

// Prometheus stays out of programs that do not want it, tests included.
func TestOnlyMetricsImportsPrometheus(t *testing.T) {
	for _, p := range goList(t) {
		if p.name() == "metrics" || strings.HasPrefix(p.name(), "cmd/") {
			continue
		}
		for _, path := range append(append(p.Imports, p.TestImports...), p.XTestImports...) {
			if strings.HasPrefix(path, "github.com/prometheus/") {
				t.Errorf("%s imports %s", p.name(), path)
			}
		}
	}
}

// sources visits every Go file of the module, whatever its build tags.
func sources(t *testing.T, f func(path string, src []byte, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	n := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		n++
		f(filepath.ToSlash(rel), src, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Fatalf("%d files only were seen", n)
	}
}

func imports(file *ast.File, path string) bool {
	for _, s := range file.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err == nil && p == path {
			return true
		}
	}
	return false
}

func TestUnsafeLivesInItsOwnFiles(t *testing.T) {
	sources(t, func(path string, src []byte, file *ast.File) {
		name := strings.TrimSuffix(filepath.Base(path), ".go")
		its := strings.HasSuffix(name, "_unsafe") || strings.HasSuffix(name, "_unsafe_test")
		if imports(file, "unsafe") && !its {
			t.Errorf("%s imports unsafe: move that to a file *_unsafe.go", path)
		}
		if its && !imports(file, "unsafe") && !strings.Contains(name, "publish") {
			t.Errorf("%s does not import unsafe: its name says so", path)
		}
	})
}

func TestCgoLivesInIbv(t *testing.T) {
	sources(t, func(path string, src []byte, file *ast.File) {
		if imports(file, "C") && filepath.ToSlash(filepath.Dir(path)) != "fabric/verbs/internal/ibv" {
			t.Errorf("%s uses cgo", path)
		}
	})
}

// A file of 400 lines is full; one of 450 is two.
func TestNoFileIsOverfull(t *testing.T) {
	const most = 450
	sources(t, func(path string, src []byte, file *ast.File) {
		if n := bytes.Count(src, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, the most is %d: split it by event or algorithm", path, n, most)
		}
	})
}

func TestThisTestSeesViolations(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"pt2pt", "match", true}, {"pt2pt", "rma", false}, {"fabric/shm", "fabric/mem", false},
		{"fabric/shm", "fabric", true}, {"match", "wire", false}, {"mpi", "fabric/shm", true},
		{"bench/compare", "bench/osufmt", true}, {"bench/compare", "mpi", false}, {"progress", "match", false},
	} {
		allowed, ok := entry(table, c.from)
		if got := ok && allows(allowed, c.to); got != c.want {
			t.Errorf("%s may import %s: %t, want %t", c.from, c.to, got, c.want)
		}
	}
	if _, ok := entry(table, "helpers"); ok {
		t.Error("an unknown package has a place in the house")
	}
	if standard("github.com/x/y") || !standard("encoding/json") || standard("golang.org/x/sys/unix") {
		t.Error("the standard library is not told from other modules")
	}
	for name := range table {
		if name, pattern := strings.CutSuffix(name, "/..."); pattern && name == "" {
			t.Error("an empty pattern allows everything")
		}
	}
}
