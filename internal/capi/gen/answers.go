package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// answers says where functions are answered: in C by hand, by a Go function, or nowhere.
type answers struct {
	inC   map[string]bool
	quick map[string]bool // in C where weft_quick_NAME can, else in Go
	inGo  map[string]bool // by the name of the Go function
}

// answered is a line of a C file that defines a function by hand.
var answered = regexp.MustCompile(`(?m)^MPI_API(?:_OF\([^,]+,\s*|\()(\w+)\s*[,)]`)

// quick is a line of a C file that defines what a body asks first.
var quick = regexp.MustCompile(`(?m)^int weft_quick_(\w+)\(`)

// findAnswers looks for answers in the C files of the library, then in package capi.
func findAnswers(root string, t *table) (a answers, err error) {
	a = answers{inC: map[string]bool{}, quick: map[string]bool{}, inGo: map[string]bool{}}
	known := map[string]bool{}
	for _, f := range t.functions {
		known[f.Name] = true
	}
	cFiles, err := filepath.Glob(filepath.Join(root, "cmd/libmpi-abi/*.c"))
	if err != nil {
		return a, err
	}
	for _, path := range cFiles {
		if strings.HasPrefix(filepath.Base(path), "gen_") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return a, err
		}
		for _, m := range answered.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if !known[name] || a.inC[name] {
				return a, fmt.Errorf("%s: MPI_%s is no function of the table, or has a body already", path, name)
			}
			a.inC[name] = true
		}
		for _, m := range quick.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if !known[name] || a.inC[name] {
				return a, fmt.Errorf("%s: weft_quick_%s is for no generated body", path, name)
			}
			a.quick[name] = true
		}
	}
	goFiles, err := filepath.Glob(filepath.Join(root, "internal/capi/*.go"))
	if err != nil {
		return a, err
	}
	for _, path := range goFiles {
		if base := filepath.Base(path); strings.HasPrefix(base, "gen_") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		t.goPackage = true
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return a, err
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && answering(f) {
				a.inGo[f.Name.Name] = true
			}
		}
	}
	rows := map[string]bool{"unsupported": true} // which answers for all others
	for _, f := range t.functions {
		rows[f.GoName()] = true
	}
	for name := range a.inGo {
		if !rows[name] {
			return a, fmt.Errorf("internal/capi: %s has the form of an answer, and there is no such function", name)
		}
	}
	return a, nil
}

// answering reports whether a function is a func(*Args) error.
func answering(f *ast.FuncDecl) bool {
	if f.Recv != nil || f.Type.TypeParams != nil || f.Type.Params.NumFields() != 1 || f.Type.Results.NumFields() != 1 {
		return false
	}
	p, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	return ok && named(p.X, "Args") && named(f.Type.Results.List[0].Type, "error")
}

func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
