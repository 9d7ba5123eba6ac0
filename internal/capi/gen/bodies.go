package main

import (
	"fmt"
	"strings"

	"github.com/weft-mpi/weft/internal/capi/spec"
)

// inGo reports whether there is a Go function of that name. One that C answers may call it.
func (t *table) inGo(f *spec.Function) bool { return f.Code && t.answers.inGo[f.GoName()] }

// answeredInGo reports whether a function's body crosses to Go.
func (t *table) answeredInGo(f *spec.Function) bool { return !t.answers.inC[f.Name] && t.inGo(f) }

// answeredNowhere reports whether a function's body refuses.
func (t *table) answeredNowhere(f *spec.Function) bool {
	return !t.answers.inC[f.Name] && !t.answeredInGo(f)
}

// unsupported is the list of functions without an answer, a line for each.
func (t *table) unsupported() []byte {
	w := &writer{}
	for _, f := range t.functions {
		if t.answeredNowhere(&f) {
			w.line("MPI_%s", f.Name)
		}
	}
	return w.Bytes()
}

// numbers is gen_numbers.h: the functions' places in the table, and the handles that live
// from the start.
func (t *table) numbers() []byte {
	w := &writer{}
	w.line("/* %s */", generated)
	w.line("#ifndef WEFT_GEN_NUMBERS_H\n#define WEFT_GEN_NUMBERS_H\n")
	w.line("/* The functions, by their places in the table. */\nenum {")
	for _, f := range t.functions {
		w.line("\tweft_fn_%s,", f.Name)
	}
	w.line("\tweft_fn_count\n};\n")
	w.line("/* ROW(kind, handle, bytes) for each handle that lives from the start: only datatypes have bytes. */")
	var rows []string
	for _, g := range t.groups {
		for _, c := range g.Constants {
			if kind := weftKind(g.Handle); kind != "" && alive(g, c) {
				size := 0
				if c.Datatype != nil {
					size = c.Datatype.Size
				}
				rows = append(rows, fmt.Sprintf("ROW(%s, MPI_%s, %d)", kind, c.Name, size))
			}
		}
	}
	w.line("#define WEFT_PREDEFINED(ROW) \\\n\t%s\n\n#endif", strings.Join(rows, " \\\n\t"))
	return w.Bytes()
}

// alive reports whether a constant is a handle of an object that is there from the start.
func alive(g spec.Group, c spec.Constant) bool {
	return g.Handle != "" && !c.Null && c.Alias == "" && (g.Handle != "type" || c.Datatype != nil)
}

// weftKind is the enum weft_kind of a kind of handles with slots in C; "" for others.
func weftKind(k spec.Kind) string {
	switch {
	case !k.Handle() || k.Tool() || k == "request":
		return ""
	case k == "type":
		return kindPrefix + "DATATYPE"
	}
	return kindPrefix + strings.ToUpper(string(k))
}

// kindPrefix is what the names of kinds begin with in weft.h.
const kindPrefix = "WEFT_"

// bodies is gen_bodies.c.
func (t *table) bodies() []byte {
	w := &writer{}
	w.line("/* %s */", generated)
	w.line("#include \"weft.h\"\n#include \"check.h\"\n\n/* Functions that Go answers. */")
	for i := range t.functions {
		if f := &t.functions[i]; t.answeredInGo(f) {
			w.line("")
			t.writeCrossing(w, f)
		}
	}
	w.line("\n/* Functions that nothing answers: they do not look at most of their arguments. */")
	w.line("#pragma GCC diagnostic ignored \"-Wunused-parameter\"")
	for i := range t.functions {
		if f := &t.functions[i]; t.answeredNowhere(f) {
			w.line("")
			writeRefusal(w, f)
		}
	}
	return w.Bytes()
}

// define is the first line of a body.
func define(w *writer, f *spec.Function) {
	if f.Code {
		w.line("MPI_API(%s, %s)", f.Name, f.Parameters(true))
	} else {
		w.line("MPI_API_OF(%s, %s, %s)", f.Returns.C(), f.Name, f.Parameters(true))
	}
}

func (t *table) writeCrossing(w *writer, f *spec.Function) {
	define(w, f)
	w.line("{")
	if t.answers.quick[f.Name] {
		var names []string
		for _, a := range f.Arguments {
			names = append(names, a.Name)
		}
		w.line("\tif (weft_quick_%s(%s))\n\t\treturn MPI_SUCCESS;", f.Name, strings.Join(names, ", "))
	}
	if f.Tool() {
		w.line("\tstruct weft_args a;")
	} else {
		writeStart(w, f)
	}
	for _, c := range checks(f) {
		w.line("\t%s;", c)
	}
	for i, a := range f.Arguments {
		w.line("\ta.word[%d] = %s;", i, word(a))
	}
	if f.Tool() {
		w.line("\treturn weft_go(weft_fn_%s, &a);\n}", f.Name)
		return
	}
	w.line("\treturn weft_answer(&a, weft_fn_%s, call);\n}", f.Name)
}

func writeRefusal(w *writer, f *spec.Function) {
	define(w, f)
	w.line("{")
	switch {
	case f.Returns.Handle():
		w.line("\treturn (%s)0;", f.Returns.C())
	case !f.Code:
		w.line("\treturn 0;")
	case f.Tool():
		w.line("\treturn MPI_T_ERR_NOT_SUPPORTED;")
	default:
		writeStart(w, f)
		w.line("\treturn weft_raise(&a, MPI_ERR_UNSUPPORTED_OPERATION, call);")
	}
	w.line("}")
}

// writeStart is the C that sets what the errors of a call are about, and looks whether the
// function may be called now.
func writeStart(w *writer, f *spec.Function) {
	kind, object, large := kindPrefix+"NONE", "0", 0
	if i := f.Object(); i >= 0 {
		a := f.Arguments[i]
		kind, object = weftKind(a.Kind), fmt.Sprintf("W(%s)", a.Name)
		if a.Access == spec.Reference {
			object = fmt.Sprintf("%s ? W(*%s) : 0", a.Name, a.Name)
		}
	}
	if strings.HasPrefix(f.Name, "File_") && kind != weftKind("file") {
		kind, object = weftKind("file"), "W(MPI_FILE_NULL)" // no file is open yet (MPI-5.0 §14.7)
	}
	if f.Large {
		large = 1
	}
	w.line("\tstatic const char call[] = \"MPI_%s\";", f.Name)
	w.line("\tstruct weft_args a;\n\tweft_about(&a, %s, %s, %d);", kind, object, large)
	if !f.Any {
		w.line("\tWEFT_READY();")
	}
}

// checks are the conditions of a call, that of its object first.
func checks(f *spec.Function) (all []string) {
	if f.Tool() {
		return nil
	}
	object := f.Object()
	if object >= 0 {
		all = append(all, check(f.Arguments[object])...)
	}
	for i, a := range f.Arguments {
		if i != object {
			all = append(all, check(a)...)
		}
	}
	return all
}

// check is what C looks at before an argument goes to Go: arrays are looked at there,
// with their lengths, and so are requests, messages and what is not significant.
func check(a spec.Argument) []string {
	kind := weftKind(a.Kind)
	if a.Kind == "message" {
		kind = ""
	}
	given := "WEFT_GIVEN(" + a.Name + ")"
	switch {
	case a.Insignificant || a.Array:
		return nil
	case a.Access == spec.Value && kind != "" && a.MayBeNull:
		return []string{fmt.Sprintf("WEFT_ALIVE_OR(%s, %s, %s)", nullHandle(a.Kind), kind, a.Name)}
	case a.Access == spec.Value && kind != "":
		return []string{fmt.Sprintf("WEFT_ALIVE(%s, %s)", kind, a.Name)}
	case a.Access == spec.Reference && kind != "":
		return []string{given, fmt.Sprintf("WEFT_ALIVE(%s, *%s)", kind, a.Name)}
	case a.Kind == "status" && a.Access == spec.Output: // MPI_STATUS_IGNORE
		return nil
	case a.Access != spec.Value, a.Kind == "string", a.Kind == "status":
		return []string{given}
	}
	return nil
}

// nullHandle is the constant of a kind that is no handle.
func nullHandle(k spec.Kind) string {
	if k == "type" {
		return "MPI_DATATYPE_NULL"
	}
	return "MPI_" + strings.ToUpper(string(k)) + "_NULL"
}

// word is an argument as a word of 64 bits.
func word(a spec.Argument) string {
	if a.Pointer() || a.Kind.Handle() {
		return "W(" + a.Name + ")"
	}
	return "N(" + a.Name + ")"
}
