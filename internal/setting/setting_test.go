package setting

import (
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

var root = filepath.Join("..", "..")

func TestThePageIsThatOfTheCode(t *testing.T) {
	name := filepath.Join(root, "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(name, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page() {
		t.Errorf("docs/configuration.md is not what the registry says: go generate ./internal/setting")
	}
	for _, s := range all {
		if n := strings.Count(Page(), "| `"+s.Name+"` |"); s.Name != "" && n != 1 {
			t.Errorf("%s has %d rows of the page", s.Name, n)
		}
		if n := strings.Count(Page(), "| `"+s.Option+"` |"); s.Option != "" && n != 1 {
			t.Errorf("%s has %d rows of the page", s.Option, n)
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range all {
		id := s.Name + " " + s.Option
		switch {
		case s.Name == "" && s.Option == "", seen[id]:
			t.Errorf("%+v has no name, or one twice", s)
		case s.What == "" || s.Reader == "" || s.Kind == User && s.Default == "":
			t.Errorf("%s does not say what it is, who reads it, or its default", id)
		case s.Name != "" && !regexp.MustCompile(`^WEFT_[A-Z]+(_[A-Z]+)*$`).MatchString(s.Name) || strings.Contains(s.Name, reserved):
			t.Errorf("%s is no name", s.Name)
		case strings.ContainsAny(s.What+s.More+s.Default, "|\n"):
			t.Errorf("%s breaks the rows of a table", id)
		case strings.HasSuffix(s.What, ".") || s.More != "" && !strings.HasSuffix(s.More, "."):
			t.Errorf("%s: a line has no full stop, and sentences do", id)
		}
		seen[id] = true
	}
}

// word is the name of a variable in a source.
var word = regexp.MustCompile(`"(WEFT_[A-Z0-9_]+)"`)

// Every variable that a source of the product names is in the registry, and each in
// it is named in the package that the registry says.
func TestTheRegistryHasWhatTheSourcesRead(t *testing.T) {
	named := map[string]bool{} // "package name"
	each(t, func(path string, source []byte) {
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(path, "_test.go")
		for _, m := range word.FindAllStringSubmatch(string(source), -1) {
			_, ok := Find(m[1])
			if !ok && !test && !strings.Contains(m[1], reserved) {
				t.Errorf("%s reads %s, which is not in internal/setting", path, m[1])
			}
			if !test {
				named[filepath.ToSlash(dir)+" "+m[1]] = true
			}
		}
	})
	for _, s := range Variables() {
		if s.Kind != Development && !named[s.Reader+" "+s.Name] {
			t.Errorf("no source of %s names %s", s.Reader, s.Name)
		}
	}
}

// each visits the module's Go files outside this package and internal/testkit/hosts, which no
// program contains.
func each(t *testing.T, f func(path string, source []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path == filepath.Join(root, "internal", "setting") || path == filepath.Join(root, "internal", "hosts") || path != root && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		f(path, source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every function of package mpi that returns an Option is in the registry.
func TestTheRegistryHasEveryOption(t *testing.T) {
	have := map[string]bool{}
	for _, s := range all {
		have[s.Option] = true
	}
	n := 0
	names, err := filepath.Glob(filepath.Join(root, "mpi", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			if id, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && id.Name == "Option" {
				n++
				if !have[f.Name.Name] {
					t.Errorf("%s: %s is not in internal/setting", name, f.Name.Name)
				}
				delete(have, f.Name.Name)
			}
		}
	}
	if delete(have, ""); n < 5 || len(have) > 0 {
		t.Errorf("%d options; there are no %v", n, have)
	}
}

func TestUnknownNamesAreRefusedWithTheNearest(t *testing.T) {
	for _, c := range []struct{ env, name, nearest string }{
		{"WEFT_FABRIC=shm", "", ""},
		{"WEFT_FABRIK=shm", "WEFT_FABRIK", "WEFT_FABRIC"},
		{"WEFT_FABRIK=", "", ""}, // not set
		{"WEFT_fabric=shm", "WEFT_fabric", "WEFT_FABRIC"},
		{"WEFT_DEADLINE=5s", "WEFT_DEADLINE", "WEFT_TCP_DEADLINE"},
		{"WEFT_GET_MIN=1", "WEFT_GET_MIN", "WEFT_SHM_GET_MIN"},
		{"WEFT_TCP_INTERFACE=eth0", "WEFT_TCP_INTERFACE", ""},
		{"WEFT_TCP_IFS=eth0", "WEFT_TCP_IFS", "WEFT_TCP_IF"},
		{"WEFT_VERBS_DEVICE=mlx5_0", "WEFT_VERBS_DEVICE", "WEFT_VERBS_DEV"},
		{"WEFT_=1", "WEFT_", ""},
		{"WEFT_HOME_OF_MY_OWN=/opt", "WEFT_HOME_OF_MY_OWN", ""},
		{"WEFT_RANKS=1", "WEFT_RANKS", ""}, // the launcher's are no advice
		{"WEFT_RANK=1", "", ""},
		{"WEFT_CI=1", "", ""},
		{"WEFT_TEST_NODES=2", "", ""},
		{"WEFT_MPI_TEST_TEAM=x", "", ""},
		{"MY_WEFT_FABRIK=x", "", ""},
		{"weft_fabrik=x", "", ""},
		{"WEFTFABRIC=x", "", ""},
		{"nonsense", "", ""},
	} {
		err := Unknown([]string{"PATH=/bin", c.env})
		var unknown *UnknownError
		if c.name == "" {
			if err != nil {
				t.Errorf("%s: %v", c.env, err)
			}
			continue
		}
		if !errors.As(err, &unknown) || unknown.Name != c.name || unknown.Nearest != c.nearest {
			t.Errorf("%s: %v, want %s refused, the nearest being %q", c.env, err, c.name, c.nearest)
			continue
		}
		if want := c.nearest; !strings.Contains(err.Error(), c.name) || !strings.Contains(unknown.Remedy(), want) {
			t.Errorf("%s: %v", c.env, err)
		}
	}
}

func TestEveryNameIsNearestToItself(t *testing.T) {
	for _, s := range List(User) {
		if s.Name != "" && Nearest(s.Name) != s.Name {
			t.Errorf("%s is nearest to %s", s.Name, Nearest(s.Name))
		}
	}
}

func TestDistanceCountsChangedLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
