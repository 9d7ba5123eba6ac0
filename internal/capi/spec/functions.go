package spec

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Words is how many arguments fit a call from C to Go.
const Words = 16

//go:embed functions.txt
var functionsText string

// Function is a function of MPI, or a callback.
type Function struct {
	Name       string // without MPI_
	Chapter    string
	Large      bool // Name_c, with large counts
	Any        bool // may be called at any time
	Callback   bool
	Deprecated string // the version of MPI, or ""
	Returns    Kind   // "int": an error code
	Code       bool   // the result is an error code
	Arguments  []Argument
	Variadic   bool
}

// Functions returns the 664 functions in the order of the table, Name_c behind Name, and
// the callbacks.
func Functions() (functions, callbacks []Function, err error) {
	return parseFunctions("functions.txt", functionsText)
}

func parseFunctions(file, text string) (functions, callbacks []Function, err error) {
	seen := map[string]bool{}
	err = eachRow(file, text, func(section string, fields []string) error {
		f, plus, err := parseFunction(fields)
		if err != nil {
			return err
		}
		f.Chapter = strings.Trim(section, "[]")
		all := []Function{f}
		if plus {
			large := f
			large.Name, large.Large = f.Name+"_c", true
			all = append(all, large)
		}
		for _, f := range all {
			if seen[f.Name] {
				return fmt.Errorf("%s: a second row", f.Name)
			}
			seen[f.Name] = true
			for _, a := range f.Arguments {
				if a.Kind.Callback() && !slices.ContainsFunc(callbacks, func(c Function) bool { return c.Name == string(a.Kind) }) {
					return fmt.Errorf("%s: %s: no callback %s before this row", f.Name, a.Name, a.Kind)
				}
			}
		}
		if f.Callback {
			callbacks = append(callbacks, all...)
		} else {
			functions = append(functions, all...)
		}
		return nil
	})
	return functions, callbacks, err
}

// eachRow calls f with the fields of each row, and the title of its section.
func eachRow(file, text string, f func(section string, fields []string) error) error {
	section := ""
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = line
			continue
		}
		err := error(nil)
		if section == "" {
			err = fmt.Errorf("a row before the first section")
		} else {
			err = f(section, strings.Fields(line))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return nil
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func parseFunction(fields []string) (f Function, plus bool, err error) {
	f.Name, plus = strings.CutSuffix(fields[0], "+")
	f.Returns, f.Code = "int", true
	if !identifier.MatchString(f.Name) {
		return f, plus, fmt.Errorf("%q is no name", f.Name)
	}
	if f.Large = strings.HasSuffix(f.Name, "_c"); f.Large && plus {
		return f, plus, fmt.Errorf("%s: what has large counts has no _c", f.Name)
	}
	for i, field := range fields[1:] {
		name, kind, isArgument := strings.Cut(field, ":")
		key, value, _ := strings.Cut(field, "=")
		switch {
		case isArgument:
			a, err := parseArgument(name, kind)
			if err != nil {
				return f, plus, fmt.Errorf("%s: %s: %w", f.Name, name, err)
			}
			if slices.ContainsFunc(f.Arguments, func(b Argument) bool { return b.Name == name }) {
				return f, plus, fmt.Errorf("%s: two arguments %s", f.Name, name)
			}
			f.Arguments = append(f.Arguments, a)
		case field == "..." && i == len(fields)-2:
			f.Variadic = true
		case len(f.Arguments) > 0:
			return f, plus, fmt.Errorf("%s: %q behind an argument: marks come first", f.Name, field)
		case field == "any":
			f.Any = true
		case field == "callback":
			f.Callback = true
		case key == "deprecated" && strings.HasPrefix(value, "MPI-"):
			f.Deprecated = value
		case key == "returns" && Kind(value).C() != "":
			f.Returns, f.Code = Kind(value), false
		default:
			return f, plus, fmt.Errorf("%s: no mark %q", f.Name, field)
		}
	}
	if len(f.Arguments) > Words {
		return f, plus, fmt.Errorf("%s: more than %d arguments", f.Name, Words)
	}
	differs := func(a Argument) bool { return a.Declare("", true) != a.Declare("", false) }
	if plus && !slices.ContainsFunc(f.Arguments, differs) && !slices.Contains(sameInBoth, f.Name) {
		return f, plus, fmt.Errorf("%s: no argument differs in %s_c", f.Name, f.Name)
	}
	return f, plus, nil
}

// sameInBoth are the calls whose count is large in both forms: MPI-4.0 had them from the
// start with an MPI_Count (§4.2.1), and their _c are MPICH's.
var sameInBoth = []string{"Psend_init", "Precv_init"}

func parseArgument(name, text string) (a Argument, err error) {
	if !identifier.MatchString(name) {
		return a, fmt.Errorf("%q is no name", name)
	}
	a.Name = name
	rest := text
	if r, ok := strings.CutPrefix(rest, "*"); ok {
		rest, a.Access = r, Output
	} else if r, ok := strings.CutPrefix(rest, "&"); ok {
		rest, a.Access = r, Reference
	}
	rest, a.Insignificant = strings.CutSuffix(rest, "~")
	rest, a.MayBeNull = strings.CutSuffix(rest, "?")
	rest, a.Array = strings.CutSuffix(rest, "[]")
	a.Kind = Kind(rest)
	plain := a.Access == Value && !a.Array
	if a.Kind.Callback() {
		if !plain || a.MayBeNull || a.Insignificant {
			return a, fmt.Errorf("%q: a callback is plain", text)
		}
		return a, nil
	}
	s, ok := shapes[a.Kind]
	switch {
	case !ok || a.Kind == "void" || a.Kind == "double":
		return a, fmt.Errorf("no kind %q", rest)
	case a.MayBeNull && !(plain && s.class == handle):
		return a, fmt.Errorf("%q: only a handle may be the null one", text)
	case !plain && s.base == "":
		return a, fmt.Errorf("%q: there are no pointers to %s and no arrays", text, rest)
	case plain && s.class == pointer && s.value == "", a.Array && a.Access == Value && s.class == pointer:
		return a, fmt.Errorf("%q: %s is an output", text, rest)
	}
	return a, nil
}

// GoName is the name that the function which answers has in package capi: that of the
// form without _c. MPI_Init differs, as init means something in Go.
func (f *Function) GoName() string {
	name := f.Name
	if f.Large {
		name = strings.TrimSuffix(name, "_c")
	}
	if name == "Init" {
		return "initialize"
	}
	parts := strings.Split(name, "_")
	parts[0] = strings.ToLower(parts[0][:1]) + parts[0][1:]
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

// Tool reports whether the function is one of MPI_T, whose errors no handler sees.
func (f *Function) Tool() bool { return strings.HasPrefix(f.Name, "T_") }

// Object is the argument whose error handler sees the function's errors: its index, or -1.
func (f *Function) Object() int {
	return slices.IndexFunc(f.Arguments, func(a Argument) bool {
		return slices.Contains([]Kind{"comm", "win", "session", "file"}, a.Kind) && a.Access != Output && !a.Array
	})
}

// Parameters is what stands between the parentheses of a prototype, with or without names.
func (f *Function) Parameters(names bool) string {
	var all []string
	for _, a := range f.Arguments {
		name := ""
		if names {
			name = a.Name
		}
		all = append(all, a.Declare(name, f.Large))
	}
	if f.Variadic {
		all = append(all, "...")
	}
	if len(all) == 0 {
		return "void"
	}
	return strings.Join(all, ", ")
}
