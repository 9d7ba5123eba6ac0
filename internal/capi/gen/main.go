// Command gen makes C and Go of the table of MPI's standard ABI in package spec: the header
// mpi.h, the bodies of the functions that are answered in Go or not at all, the table of
// those that Go answers, and the list of those that nothing does. With -check it writes
// nothing and reports which of its files are not as it would write them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-mpi/weft/internal/atomicfile"
	"github.com/weft-mpi/weft/internal/capi/spec"
)

//go:generate go run . -root ../../..

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "folder of the module")
	check := flag.Bool("check", false, "write nothing, report what is not up to date")
	flag.Parse()
	stale, err := run(*root, !*check)
	if err != nil {
		log.Fatal(err)
	}
	if *check && len(stale) > 0 {
		log.Fatalf("not up to date, run go generate ./internal/capi/gen: %s", strings.Join(stale, " "))
	}
}

// run makes all files, compares them with those that are there, and writes those that
// differ if it is told to. It returns their names.
func run(root string, write bool) (differ []string, err error) {
	files, err := generate(root)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(root, f.name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.text) {
			continue
		}
		differ = append(differ, f.name)
		if !write {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return differ, err
		}
		err := atomicfile.Write(path, func(w io.Writer) error {
			_, err := w.Write(f.text)
			return err
		})
		if err != nil {
			return differ, err
		}
	}
	return differ, nil
}

type file struct {
	name string // from the module's folder
	text []byte
}

// table is what all files are made of.
type table struct {
	functions, callbacks []spec.Function
	groups               []spec.Group
	answers              answers
	goPackage            bool // package capi has files, so that it can have a table
}

func load(root string) (*table, error) {
	t := &table{}
	var err error
	if t.functions, t.callbacks, err = spec.Functions(); err != nil {
		return nil, err
	}
	if t.groups, err = spec.Constants(); err != nil {
		return nil, err
	}
	t.answers, err = findAnswers(root, t)
	return t, err
}

func generate(root string) ([]file, error) {
	t, err := load(root)
	if err != nil {
		return nil, err
	}
	files := []file{
		{"cmd/libmpi-abi/include/mpi.h", t.header()},
		{"cmd/libmpi-abi/gen_numbers.h", t.numbers()},
		{"cmd/libmpi-abi/gen_bodies.c", t.bodies()},
		{"internal/capi/gen/testdata/unsupported.txt", t.unsupported()},
	}
	if t.goPackage {
		text, err := t.goTables()
		if err != nil {
			return nil, err
		}
		files = append(files, file{"internal/capi/gen_functions.go", text})
	}
	return files, nil
}

// writer collects the text of a file.
type writer struct{ bytes.Buffer }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.Buffer, format+"\n", args...) }
