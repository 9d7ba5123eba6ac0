package main

import (
	"go/format"
)

// goTables is gen_functions.go.
func (t *table) goTables() ([]byte, error) {
	w := &writer{}
	w.line("// %s\n\npackage capi\n", generated)
	w.line("// functions has the function that answers a call, by its number.\nvar functions = [%d]func(*Args) error{", len(t.functions))
	for i, f := range t.functions {
		if t.inGo(&f) {
			w.line("%d: %s, // MPI_%s", i, f.GoName(), f.Name)
		}
	}
	w.line(`}

// predefinedHandle is a handle that mpi.h names: the null one of its kind, or that of an
// object which is there from the start. kind is that of package spec: comm, group, op.
type predefinedHandle struct {
	handle uint32
	kind   string
	name   string
	null   bool
}

var predefinedHandles = [...]predefinedHandle{`)
	for _, g := range t.groups {
		for _, c := range g.Constants {
			if g.Handle.Handle() && !g.Handle.Tool() && (c.Null || g.Handle != "type") {
				w.line("{%#x, %q, %q, %t},", c.Value, g.Handle, "MPI_"+c.Name, c.Null)
			}
		}
	}
	w.line(`}

// predefinedType is a datatype that mpi.h names and that GCC has here. kind is the name
// that internal/datatype has for it, or raw: bytes that nothing converts.
type predefinedType struct {
	handle       uint32
	name         string
	kind         string
	size, extent int
	character    bool // operators refuse it
	logical      bool // the logical operators take it
}

var predefinedTypes = [...]predefinedType{`)
	for _, g := range t.groups {
		for _, c := range g.Constants {
			if d := c.Datatype; d != nil {
				w.line("{%#x, %q, %q, %d, %d, %t, %t},", c.Value, "MPI_"+c.Name, d.Kind, d.Size, d.Extent, d.Character, d.Logical)
			}
		}
	}
	w.line("}")
	return format.Source(w.Bytes())
}
