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
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/weft-mpi/weft/internal/tier"
)

const module = "github.com/weft-mpi/weft"

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

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// architecture is the page with the tables.
func architecture(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// ours takes the path of a package of this module apart.
func ours(path string) (name string, ok bool) { return strings.CutPrefix(path, module+"/") }

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	p, err := parse(architecture(t))
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for _, pkg := range goList(t) {
		if pkg.ImportPath == module {
			continue
		}
		imports[pkg.name()] = slices.DeleteFunc(pkg.Imports, func(path string) bool {
			return path == "C" || standard(path) // see the test on cgo
		})
	}
	for _, v := range p.violations(imports, ours) {
		t.Errorf("ARCHITECTURE.md: %s", v)
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

// A file that a user names may be a device: internal/atomicfile looks.
func TestFilesAreWrittenByAtomicfile(t *testing.T) {
	sources(t, func(path string, src []byte, file *ast.File) {
		switch dir := filepath.ToSlash(filepath.Dir(path)); dir {
		case "internal/atomicfile", "internal/faults", "internal/hosts", "internal/planted": // the last three write files of their own
			return
		}
		for _, call := range []string{"os.Create(", "os.WriteFile(", "os.Rename(", "prometheus.WriteToTextfile("} {
			if !strings.HasSuffix(path, "_test.go") && bytes.Contains(src, []byte(call)) && !bytes.Contains(src, []byte("atomicfile.Check(")) {
				t.Errorf("%s calls %s): use internal/atomicfile", path, call)
			}
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

// example is a page as ARCHITECTURE.md.
const example = `
## The house

| package | may import | role |
|---|---|---|
| ${wire}$, ${match}$ | nothing | headers, queues |
| ${pt2pt}$ | ${match}$, ${wire}$ | protocols |
| ${rma}$ (planned) | ${wire}$ | windows |
| ${bench/...}$ | ${pt2pt}$ | programs, which may not import | anything else |

## Elsewhere

| ${stranger}$ | nothing | of another table |

## Dependencies

| module | used by | reason |
|---|---|---|
| ${golang.org/x/sys/unix}$ | ${pt2pt}$ | system calls |
| ${gonum.org/v1/gonum/...}$ | ${bench/...}$ | statistics |
| ${pgregory.net/rapid}$ | tests | |
`

func TestViolationsAreSeen(t *testing.T) {
	page := strings.NewReplacer("${", "`", "}$", "`").Replace(example)
	p, err := parse(page)
	if err != nil {
		t.Fatal(err)
	}
	good := func() map[string][]string {
		return map[string][]string{
			"wire": nil, "match": nil, "pt2pt": {module + "/match", "golang.org/x/sys/unix"},
			"bench": {"gonum.org/v1/gonum/stat"}, "bench/plot": {module + "/pt2pt", "gonum.org/v1/gonum"},
		}
	}
	if v := p.violations(good(), ours); len(v) > 0 {
		t.Errorf("what is right is a violation: %v", v)
	}
	for want, c := range map[string]struct {
		name    string
		imports []string // nil: the package is not there
	}{
		"stranger has no row":                     {"stranger", []string{}},
		"helpers has no row":                      {"helpers", []string{}},
		"rma is there, and its row says":          {"rma", []string{}},
		"match has a row and is not there":        {"match", nil},
		"match imports wire, which its row":       {"match", []string{module + "/wire"}},
		"pt2pt imports rma, which its row":        {"pt2pt", []string{module + "/rma"}},
		"bench/plot imports match, which its":     {"bench/plot", []string{module + "/match"}},
		"bench/plot imports golang.org/x/sys":     {"bench/plot", []string{"golang.org/x/sys/unix"}},
		"wire imports golang.org/x/sys/unix":      {"wire", []string{"golang.org/x/sys/unix"}},
		"pt2pt imports pgregory.net/rapid":        {"pt2pt", []string{"pgregory.net/rapid"}},
		"bench imports gonum.org/v1/gonumber: un": {"bench", []string{"gonum.org/v1/gonumber"}},
	} {
		bad := good()
		if bad[c.name] = c.imports; c.imports == nil {
			delete(bad, c.name)
		}
		if v := p.violations(bad, ours); len(v) != 1 || !strings.HasPrefix(v[0], want) {
			t.Errorf("the violations are %v, want %q", v, want)
		}
	}
	for what, change := range map[string][2]string{
		"a row twice":              {"| `pt2pt` |", "| `wire` |"},
		"imports of no row":        {"`match`, `wire` | protocols", "`match`, `op` | protocols"},
		"a row that is silent":     {"| nothing | headers", "| | headers"},
		"a row without a package":  {"| `pt2pt` |", "| pt2pt |"},
		"no house":                 {"## The house", "## The garden"},
		"nothing of other modules": {"## Dependencies", "## Thanks"},
	} {
		if !strings.Contains(page, change[0]) {
			t.Fatalf("the example has no %q", change[0])
		}
		if _, err := parse(strings.Replace(page, change[0], change[1], 1)); err == nil {
			t.Errorf("a page with %s is taken", what)
		}
	}
	if standard("github.com/x/y") || !standard("encoding/json") || standard("golang.org/x/sys/unix") {
		t.Error("the standard library is not told from other modules")
	}
}
