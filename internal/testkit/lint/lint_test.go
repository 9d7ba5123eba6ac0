package lint

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

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

const module = "github.com/weft-mpi/weft"

// root is the module's folder.
var root = filepath.Join("..", "..", "..")

// goList asks the go command about the packages of the module.
func goList(t *testing.T) (packages []pkg) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,IgnoredGoFiles,CgoFiles,Standard", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // what needs cgo is judged too
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

func TestCgoLivesInTwoFolders(t *testing.T) {
	sources(t, func(path string, src []byte, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if imports(file, "C") && dir != "fabric/verbs/internal/ibv" && dir != "cmd/libmpi-abi" {
			t.Errorf("%s uses cgo", path)
		}
	})
}

// A file that a user names may be a device: internal/atomicfile looks.
func TestFilesAreWrittenByAtomicfile(t *testing.T) {
	sources(t, func(path string, src []byte, file *ast.File) {
		switch dir := filepath.ToSlash(filepath.Dir(path)); dir {
		case "internal/atomicfile", "internal/testkit/faults", "internal/testkit/hosts", "internal/testkit/planted": // the last three write files of their own
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
		if n := bytes.Count(src, []byte("\n")); n > most && !ast.IsGenerated(file) {
			t.Errorf("%s has %d lines, the most is %d: split it by event or algorithm", path, n, most)
		}
	})
}
