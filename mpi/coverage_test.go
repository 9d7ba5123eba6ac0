package mpi_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/coverage.md, and the numbers in README.md")

// procedures is testdata/procedures.txt.
type procedures struct {
	chapters []names
	out      []names           // that make no sense in Go, by reason
	section  map[string]string // of each procedure of a chapter, and of MPI-4.1; "" of all other names
	nonlocal map[string]bool
}

type names struct {
	title string
	list  []string
}

func readProcedures(t *testing.T) procedures {
	text, err := os.ReadFile(filepath.Join("testdata", "procedures.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := procedures{section: map[string]string{}, nonlocal: map[string]bool{}}
	var kind, title, section string
	var into *names
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if k, rest, _ := strings.Cut(line, " "); slices.Contains([]string{"chapter", "out", "later", "types"}, k) {
			kind, title, section, into = k, rest, "", nil
			switch kind {
			case "chapter":
				p.chapters = append(p.chapters, names{title: title})
				into = &p.chapters[len(p.chapters)-1]
			case "out":
				p.out = append(p.out, names{title: title})
				into = &p.out[len(p.out)-1]
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		for _, word := range strings.Fields(line) {
			if word[0] <= '9' {
				section = "§" + word
				if kind == "later" {
					section = "4.1 " + section
				}
				continue
			}
			if title == "MPIX" {
				word = "X_" + word
			}
			word, p.nonlocal[strings.TrimSuffix(word, "*")] = strings.CutSuffix(word, "*")
			if _, twice := p.section[word]; twice {
				t.Errorf("procedures.txt has %s twice", word)
			}
			p.section[word] = section
			if into != nil {
				into.list = append(into.list, word)
			}
		}
	}
	return p
}

// implementors are the exported functions, methods and fields whose comments cite
// each procedure.
func implementors(t *testing.T) map[string][]string {
	found := map[string][]string{}
	note := func(name string, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			for _, m := range cited.FindAllStringSubmatch(c.Text(), -1) {
				if !slices.Contains(found[m[1]], "`"+name+"`") {
					found[m[1]] = append(found[m[1]], "`"+name+"`")
				}
			}
		}
	}
	for _, f := range sources(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name := n.Name.Name
				if n.Recv != nil {
					name = receiver(n.Recv.List[0].Type) + "." + name
				}
				if n.Name.IsExported() && ast.IsExported(name) {
					note(name, n.Doc)
				}
				return false
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && n.Name.IsExported() {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							if name.IsExported() {
								note(n.Name.Name+"."+name.Name, field.Doc, field.Comment)
							}
						}
					}
				}
			}
			return true
		})
	}
	for _, list := range found { // functions first
		slices.SortFunc(list, func(a, b string) int {
			return 2*(strings.Count(a, ".")-strings.Count(b, ".")) + strings.Compare(a, b)
		})
	}
	return found
}

// coverage is the page, and how many procedures there are of how many.
func coverage(p procedures, found map[string][]string) (page string, there, all int) {
	var chapters, rows strings.Builder
	for _, c := range p.chapters {
		n := 0
		fmt.Fprintf(&rows, "\n## %s\n\n| MPI-4.0 | section | Go |\n|---|---|---|\n", c.title)
		for _, name := range c.list {
			here := strings.Join(found[name], ", ")
			if here == "" {
				here = "no"
			} else {
				n++
			}
			fmt.Fprintf(&rows, "| MPI_%s | %s | %s |\n", name, p.section[name], here)
		}
		fmt.Fprintf(&chapters, "| %s | %d | %d |\n", c.title, n, len(c.list))
		there, all = there+n, all+len(c.list)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Procedures of MPI-4.0

Package mpi has %d of the %d procedures of MPI-4.0 that make sense in Go. Below, each has the names of the functions, methods and fields that do the same, or "no". Procedures of MPI-4.1 and of user-level failure mitigation that Weft has are not counted.

| chapter | there | of |
|---|---|---|
%s
Left out, since they make no sense in Go:

`, there, all, &chapters)
	for _, o := range p.out {
		fmt.Fprintf(&b, "- %s MPI_%s.\n", o.title, strings.Join(o.list, ", MPI_"))
	}
	fmt.Fprintf(&b, "\nThe doc comments of mpi and mpi/testdata/procedures.txt are what `go test ./mpi -run Coverage -update` makes this page of.\n%s", &rows)
	return b.String(), there, all
}

var counted = regexp.MustCompile(`\d+ of the \d+ procedures of MPI-4\.0`)

func TestCoverage(t *testing.T) {
	page, there, all := coverage(readProcedures(t), implementors(t))
	want := fmt.Sprintf("%d of the %d procedures of MPI-4.0", there, all)
	for name, renew := range map[string]func(old []byte) []byte{
		filepath.Join("..", "docs", "coverage.md"): func([]byte) []byte { return []byte(page) },
		filepath.Join("..", "README.md"):           func(old []byte) []byte { return counted.ReplaceAll(old, []byte(want)) },
	} {
		old, err := os.ReadFile(name)
		if err != nil && !*update {
			t.Fatal(err)
		}
		text := renew(old)
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s does not say how many procedures there are: %q", name, want)
		}
		if bytes.Equal(text, old) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the doc comments say: go test ./mpi -run Coverage -update", name)
		} else if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A name of a procedure or a type in a comment is one that MPI has: a misspelt one
// would be missing from the page.
func TestCoverageKnowsEveryName(t *testing.T) {
	p, found := readProcedures(t), implementors(t)
	mixed := regexp.MustCompile(`\bMPI(X?_(?:T_)?[A-Z]\w*[a-z]\w*)`)
	for _, f := range sources(t) {
		for _, group := range f.Comments {
			for _, m := range mixed.FindAllStringSubmatch(group.Text(), -1) {
				if _, known := p.section[strings.TrimPrefix(m[1], "_")]; !known {
					t.Errorf("MPI%s is no procedure that testdata/procedures.txt lists", m[1])
				}
			}
			for _, m := range cited.FindAllStringSubmatch(group.Text(), -1) {
				if p.section[m[1]] != "" && found[m[1]] == nil {
					t.Errorf("MPI_%s is cited only where no exported function, method or field is", m[1])
				}
			}
		}
	}
}
