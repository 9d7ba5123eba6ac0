package spec

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed constants.txt
var constantsText string

// Group is a section of constants.txt.
type Group struct {
	Form      string // number, enum, handle or value
	Enum      string // name of the enum's type, without MPI_; may be ""
	Handle    Kind   // of a handle
	Title     string
	Constants []Constant
}

// Constant is one of mpi.h.
type Constant struct {
	Name       string // without MPI_
	Value      int
	Alias      string // the name of which this is another, or ""
	Type       string // C's, of a value
	Null       bool   // the null handle of its kind
	Deprecated string
	Datatype   *Datatype // of a handle of an MPI_Datatype that is alive
}

// Datatype is what a predefined datatype is with GCC on Linux, x86-64 and arm64.
type Datatype struct {
	Kind         string // Weft's name, or raw
	Size, Extent int
	Character    bool // operators refuse it
	Logical      bool
}

// Sizes and extents of Weft's kinds, named as internal/datatype names them.
var datatypes = map[string][2]int{
	"bool": {1, 1}, "int8": {1, 1}, "uint8": {1, 1}, "byte": {1, 1}, "packed": {1, 1}, "int16": {2, 2}, "uint16": {2, 2},
	"int32": {4, 4}, "uint32": {4, 4}, "float32": {4, 4}, "int64": {8, 8}, "uint64": {8, 8}, "float64": {8, 8},
	"complex64": {8, 8}, "complex128": {16, 16}, "float_int": {8, 8}, "double_int": {12, 16}, "long_int": {12, 16},
	"2int": {8, 8}, "short_int": {6, 8}, "2real": {8, 8}, "2double_precision": {16, 16},
}

// Constants returns the sections of constants.txt in their order.
func Constants() ([]Group, error) { return parseConstants("constants.txt", constantsText) }

func parseConstants(file, text string) (groups []Group, err error) {
	seen := map[string]bool{}
	last := ""
	err = eachRow(file, text, func(section string, fields []string) error {
		if section != last {
			g, err := parseGroup(section)
			if err != nil {
				return err
			}
			groups, last = append(groups, g), section
		}
		g := &groups[len(groups)-1]
		c, err := parseConstant(g, fields)
		if err == nil && seen[c.Name] {
			err = fmt.Errorf("a second row")
		}
		if err == nil && c.Alias != "" && !seen[c.Alias] {
			err = fmt.Errorf("no %s before this row", c.Alias)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", fields[0], err)
		}
		seen[c.Name] = true
		g.Constants = append(g.Constants, c)
		return nil
	})
	return groups, err
}

func parseGroup(section string) (g Group, err error) {
	head, title, ok := strings.Cut(strings.TrimPrefix(section, "["), "]")
	form, of, _ := strings.Cut(head, " ")
	g = Group{Form: form, Title: strings.TrimSpace(title)}
	switch {
	case !ok:
	case form == "enum":
		g.Enum = of
		return g, nil
	case form == "handle" && Kind(of).Handle():
		g.Handle = Kind(of)
		return g, nil
	case (form == "number" || form == "value") && of == "":
		return g, nil
	}
	return g, fmt.Errorf("%s: no section of this form", section)
}

func parseConstant(g *Group, fields []string) (c Constant, err error) {
	if len(fields) < 2 {
		return c, fmt.Errorf("no value")
	}
	c.Name = fields[0]
	rest := fields[2:]
	if n, err := strconv.ParseInt(fields[1], 0, 32); err == nil {
		c.Value = int(n)
	} else if identifier.MatchString(fields[1]) {
		c.Alias = fields[1]
	} else {
		return c, fmt.Errorf("%q is no number and no name", fields[1])
	}
	if i := slices.IndexFunc(rest, func(s string) bool { return strings.HasPrefix(s, "deprecated=MPI-") }); i >= 0 {
		c.Deprecated = strings.TrimPrefix(rest[i], "deprecated=")
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	switch {
	case g.Form == "value" && len(rest) == 1:
		c.Type = rest[0]
		return c, nil
	case g.Handle != "" && len(rest) == 1 && rest[0] == "null":
		c.Null = true
		return c, nil
	case g.Handle == "type" && c.Alias == "":
		c.Datatype, err = parseDatatype(rest)
		return c, err
	case len(rest) > 0 || g.Form == "value":
		return c, fmt.Errorf("a %s does not end in %q", g.Form, strings.Join(rest, " "))
	}
	return c, nil
}

func parseDatatype(fields []string) (*Datatype, error) {
	if len(fields) == 1 && fields[0] == "-" {
		return nil, nil
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("what the datatype is, is missing")
	}
	d := &Datatype{Kind: fields[0]}
	size, known := datatypes[d.Kind]
	if d.Size, d.Extent = size[0], size[1]; !known && d.Kind != "raw" {
		return nil, fmt.Errorf("no kind of datatypes %q", d.Kind)
	}
	for _, f := range fields[1:] {
		n, err := strconv.Atoi(f)
		switch {
		case f == "char":
			d.Character = true
		case f == "logical":
			d.Logical = true
		case err != nil || n <= 0 || known || d.Extent > d.Size:
			return nil, fmt.Errorf("a datatype does not have %q", f)
		case d.Size == 0:
			d.Size, d.Extent = n, n
		default:
			d.Extent = n
		}
	}
	if d.Size == 0 {
		return nil, fmt.Errorf("raw needs a size")
	}
	return d, nil
}
