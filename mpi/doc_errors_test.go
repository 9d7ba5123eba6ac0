package mpi_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// noOthers is what a call says that has only the errors of the package comment.
const noOthers = "It has no errors but the general ones."

var (
	class    = regexp.MustCompile(`\bErr[A-Z]\w*`)
	tells    = regexp.MustCompile(`\bErr[A-Z]|Errors are those of |is the function of that name|` + regexp.QuoteMeta(noOthers))
	locality = regexp.MustCompile(`(^|[.:)] )(Local|Non-local)[.,:]`)
)

// documented calls f for each exported function, or method of an exported type, with its
// name and its doc comment in one line.
func documented(t *testing.T, f func(d *ast.FuncDecl, name, doc string)) {
	for _, file := range sources(t) {
		for _, d := range file.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || !d.Name.IsExported() {
				continue
			}
			name := d.Name.Name
			if d.Recv != nil {
				of := receiver(d.Recv.List[0].Type)
				if !ast.IsExported(of) {
					continue
				}
				name = of + "." + name
			}
			f(d, name, strings.Join(strings.Fields(d.Doc.Text()), " "))
		}
	}
}

// receiver is the name of the type in *T or T[P].
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// fails reports whether the last result of a call is an error.
func fails(d *ast.FuncDecl) bool {
	r := d.Type.Results
	if r == nil {
		return false
	}
	last, ok := r.List[len(r.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// plainWords are the methods that only format or compare values.
var plainWords = regexp.MustCompile(`\.(String|Error|Is|Unwrap)$`)

// otherwise are the calls that are not as MPI has them, and why.
var otherwise = map[string]string{
	"Comm.Free":  "MPI lets it wait, and it does not",
	"NewSession": "the first one of a launched process joins the job",
}

func TestEachCallNamesItsErrorsAndItsLocality(t *testing.T) {
	n, cites, mpi := 0, 0, readProcedures(t)
	documented(t, func(d *ast.FuncDecl, name, doc string) {
		if plainWords.MatchString(name) {
			return
		}
		n++
		if fails(d) && !tells.MatchString(doc) {
			t.Errorf("%s does not name its errors: %q is for a call without any of its own", name, noOthers)
		}
		is := locality.FindStringSubmatch(doc)
		if is == nil {
			t.Errorf("%s does not say whether it is Local or Non-local", name)
			return
		}
		for _, m := range cited.FindAllStringSubmatch(doc, -1) {
			if mpi.section[m[1]] == "" {
				continue
			}
			cites++
			if same := mpi.nonlocal[m[1]] == (is[2] == "Non-local"); same == (otherwise[name] != "") {
				t.Errorf("%s is %s, and MPI_%s is non-local: %t (%s)", name, is[2], m[1], mpi.nonlocal[m[1]], otherwise[name])
			}
		}
	})
	if n < 400 || cites < 300 {
		t.Errorf("only %d calls were found, which cite %d procedures", n, cites)
	}
}

func TestErrorsOfDocsExist(t *testing.T) {
	known := map[string]bool{}
	text := ""
	for _, f := range sources(t) {
		text += f.Doc.Text()
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok {
						for _, name := range s.Names {
							known[name.Name] = true
						}
					}
				}
			}
		}
	}
	documented(t, func(_ *ast.FuncDecl, _, doc string) { text += " " + doc })
	for _, name := range class.FindAllString(text, -1) {
		if !known[name] {
			t.Errorf("docs name %s, which there is not", name)
		}
	}
}
