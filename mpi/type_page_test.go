package mpi_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unindented are the lines of a text without what is before and behind each.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		b.WriteString("\n" + strings.TrimSpace(line))
	}
	return b.String() + "\n"
}

// Each piece of code of docs/datatypes.md is part of an example, and the text below it is
// part of what that prints. Each constructor and view has one.
func TestTheDatatypesPageIsTrue(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "datatypes.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string][2]string{} // code and output
	names, err := filepath.Glob("example_datatype_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(fset, name, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(file) {
			from, to := fset.Position(e.Code.Pos()).Offset, fset.Position(e.Code.End()).Offset
			examples[e.Name] = [2]string{unindented(string(src[from:to])), unindented(e.Output)}
		}
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```\n(?:```text\n(.*?)```)?").FindAllStringSubmatch(string(page), -1) {
		code, output := unindented(m[1]), unindented(m[2])
		found := false
		for name, e := range examples {
			if strings.Contains(e[0], code) && (m[2] == "" || strings.Contains(e[1], output)) {
				shown[name], found = true, true
			}
		}
		if !found {
			t.Errorf("no example of mpi has this code and prints this text:\n%s%s", m[1], m[2])
		}
	}
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			name := f.Name.Name
			if constructs := strings.HasPrefix(name, "Type"); !constructs && name != "Strided" && name != "Subarray" && name != "Indexed" {
				continue
			}
			if !shown[name] || !strings.Contains(string(page), name+"(") && !strings.Contains(string(page), name+"[") {
				t.Errorf("the page does not show the example of %s", name)
			}
		}
	}
}
