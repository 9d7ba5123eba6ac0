// Package house keeps the rules of ARCHITECTURE.md that a compiler does not:
// who imports whom, where unsafe and cgo live, how long a file may be, and how
// long a test waits. The rules about packages are the page's own tables, which
// this package reads: there is no second list.
package house

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// row is what the page says of a package.
type row struct {
	imports []string // packages of the module that it may import
	planned bool     // it does not exist yet
}

// plan is the packages of a module, by their names or by patterns, "examples/...",
// which stand for a package and all below it. It does not judge tests.
type plan struct {
	rows    map[string]row
	foreign map[string][]string // modules besides the standard library that a package may import
}

// quoted is a word of code in a cell.
var quoted = regexp.MustCompile("`([^`]+)`")

// parse reads the tables under "## The house" and "## Dependencies". Their first
// two columns count:
//
//	| package | may import | ...     the packages named in a row; (planned) marks those to come
//	| module | used by | ...         the module, or package of one, and packages of ours
//
// A row of the second table that names no package is about tests or tools.
func parse(page string) (p plan, err error) {
	p = plan{map[string]row{}, map[string][]string{}}
	for _, cells := range rowsUnder(page, "## The house") {
		names, imports := words(cells[0]), words(cells[1])
		if len(names) == 0 || len(imports) == 0 && !strings.Contains(cells[1], "nothing") {
			return p, fmt.Errorf("a row of the house has no package, or does not say what it imports: %q", cells)
		}
		for _, name := range names {
			if _, twice := p.rows[name]; twice {
				return p, fmt.Errorf("%s has two rows", name)
			}
			p.rows[name] = row{imports, strings.Contains(cells[0], "(planned)")}
		}
	}
	for name, r := range p.rows {
		for _, other := range r.imports {
			if _, _, ok := entry(p.rows, other); !ok {
				return p, fmt.Errorf("%s may import %s, which has no row", name, other)
			}
		}
	}
	for _, cells := range rowsUnder(page, "## Dependencies") {
		for _, module := range words(cells[0]) {
			for _, user := range words(cells[1]) {
				p.foreign[user] = append(p.foreign[user], module)
			}
		}
	}
	if len(p.rows) == 0 || len(p.foreign) == 0 {
		return p, fmt.Errorf("the page has %d packages and %d users of other modules", len(p.rows), len(p.foreign))
	}
	return p, nil
}

// rowsUnder are the cells of the table rows in a section, without their head.
func rowsUnder(page, title string) (rows [][]string) {
	inside, head := false, 2
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			inside, head = line == title, 2
		}
		if !inside || !strings.HasPrefix(line, "|") {
			continue
		}
		if head--; head >= 0 {
			continue
		}
		if cells := strings.Split(strings.Trim(line, "|"), "|"); len(cells) > 1 {
			rows = append(rows, cells)
		}
	}
	return rows
}

func words(cell string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// entry finds what a list says of a package: by its name, or by the longest
// pattern.
func entry[T any](list map[string]T, name string) (said T, key string, ok bool) {
	if said, ok = list[name]; ok {
		return said, name, true
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if said, ok = list[dir+"/..."]; ok {
			return said, dir + "/...", true
		}
	}
	return said, "", false
}

// allows reports whether a list of packages, or patterns, has one.
func allows(list []string, name string) bool {
	for _, a := range list {
		dir, pattern := strings.CutSuffix(a, "/...")
		if name == a || pattern && (name == dir || strings.HasPrefix(name, dir+"/")) {
			return true
		}
	}
	return false
}

// violations are what packages of the module do that the plan does not allow.
// imports has, by package, what it imports but for the standard library: ours by
// their names in the plan, others in full.
func (p plan) violations(imports map[string][]string, ours func(path string) (name string, ok bool)) (all []string) {
	complain := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	exists := map[string]bool{}
	for name, paths := range imports {
		r, key, ok := entry(p.rows, name)
		exists[key] = true
		switch {
		case !ok:
			complain("%s has no row: say what it is and what it may import", name)
			continue
		case r.planned:
			complain("%s is there, and its row says that it is planned", name)
		}
		others, _, _ := entry(p.foreign, name)
		for _, path := range paths {
			if other, our := ours(path); our {
				if !allows(r.imports, other) {
					complain("%s imports %s, which its row does not allow", name, other)
				}
			} else if !allows(others, path) {
				complain("%s imports %s: under Dependencies it has %v", name, path, others)
			}
		}
	}
	for name, r := range p.rows {
		if !r.planned && !exists[name] {
			complain("%s has a row and is not there: remove it, or mark it as planned", name)
		}
	}
	for name := range p.foreign {
		if _, _, ok := entry(p.rows, name); !ok {
			complain("%s uses modules and has no row", name)
		}
	}
	return all
}
