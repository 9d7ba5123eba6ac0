package spec

import (
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/datatype"
	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

func TestTheTableHasTheFunctionsOfTheABI(t *testing.T) {
	functions, callbacks, err := Functions()
	if err != nil {
		t.Fatal(err)
	}
	large, tools := 0, 0
	names := map[string]string{}
	for _, f := range functions {
		base := strings.TrimSuffix(f.Name, "_c")
		if f.Large {
			large++
		}
		if f.Tool() {
			tools++
		}
		if other, ok := names[f.GoName()]; ok && other != base {
			t.Errorf("%s and %s have one name in Go", other, base)
		}
		names[f.GoName()] = base
		if f.Callback || f.Chapter == "" {
			t.Errorf("%s is a callback, or in no chapter", f.Name)
		}
	}
	if len(functions) != 664 || large != 161 || tools != 51 || len(callbacks) != 23 {
		t.Errorf("%d functions, %d with large counts, %d of MPI_T, %d callbacks", len(functions), large, tools, len(callbacks))
	}
}

func TestARowSaysWhatCHas(t *testing.T) {
	functions, callbacks, err := parseFunctions("f", `[C]
Hook+ callback returns=void first:*n state:ptr ...
[F (chapter 1)]
Win_gather+ deprecated=MPI-2.0 buf:in count:n displs:displ[] types:type[] out:*type[] stride:extent info:info? name:*string win:&win hook:Hook
T_put any returns=comm`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"const void *, int, const int [], const MPI_Datatype [], MPI_Datatype [], MPI_Aint, MPI_Info, char *, MPI_Win *, MPI_Hook *",
		"const void *, MPI_Count, const MPI_Aint [], const MPI_Datatype [], MPI_Datatype [], MPI_Count, MPI_Info, char *, MPI_Win *, MPI_Hook *",
		"void",
	} {
		if got := functions[i].Parameters(false); got != want {
			t.Errorf("%s has (%s), want (%s)", functions[i].Name, got, want)
		}
	}
	if got, want := callbacks[1].Parameters(true), "MPI_Count *first, void *state, ..."; got != want {
		t.Errorf("%s has (%s), want (%s)", callbacks[1].Name, got, want)
	}
	f, tool := functions[1], functions[2]
	if f.GoName() != "winGather" || f.Object() != 8 || f.Deprecated != "MPI-2.0" || f.Chapter != "F (chapter 1)" || f.Any || !f.Code {
		t.Errorf("%+v", f)
	}
	if tool.GoName() != "tPut" || tool.Object() != -1 || !tool.Any || tool.Code || tool.Returns != "comm" {
		t.Errorf("%+v", tool)
	}
}

func TestBadRowsOfFunctionsAreRefused(t *testing.T) {
	for row, want := range map[string]string{
		"Send count:nn":             `f:2: Send: count: no kind "nn"`,
		"Send count:":               `no kind ""`,
		"Send :int":                 `"" is no name`,
		"Send-x":                    `"Send-x" is no name`,
		"Send a:int a:int":          "two arguments a",
		"Send a:int any":            "marks come first",
		"Send some":                 `no mark "some"`,
		"Send returns=nothing":      "no mark",
		"Send ... a:int":            "no mark",
		"Send+ a:int":               "no argument differs in Send_c",
		"Send_c+ a:n":               "what has large counts has no _c",
		"Send a:int?":               "only a handle may be the null one",
		"Send a:*in":                "there are no pointers to in",
		"Send a:addr":               "addr is an output",
		"Send a:string[]":           "string is an output",
		"Send a:void":               "no kind",
		"Send a:Hook":               "no callback Hook before this row",
		"Send a:*Hook":              "a callback is plain",
		"Send\nSend":                "f:3: Send: a second row",
		"Send+ a:n\nSend_c":         "Send_c: a second row",
		strings.Repeat(" a:int", 2): `"a:int" is no name`,
		"Send a1:int a2:int a3:int a4:int a5:int a6:int a7:int a8:int a9:int b1:int b2:int b3:int b4:int b5:int b6:int b7:int b8:int": "more than 16",
	} {
		if _, _, err := parseFunctions("f", "[Section]\n"+row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", row, err, want)
		}
	}
	if _, _, err := parseFunctions("f", "Send"); err == nil || !strings.Contains(err.Error(), "f:1: a row before the first section") {
		t.Error(err)
	}
}

func TestBadRowsOfConstantsAreRefused(t *testing.T) {
	for row, want := range map[string]string{
		"[things]\nA 1":                 "c:2: [things]: no section of this form",
		"[handle thing]\nA 1":           "no section of this form",
		"[enum\nA 1":                    "no section of this form",
		"[enum] E\nA":                   "c:2: A: no value",
		"[enum] E\nA 1x":                `"1x" is no number and no name`,
		"[enum] E\nA 1 null":            `a enum does not end in "null"`,
		"[enum] E\nA 1\nA 2":            "c:3: A: a second row",
		"[enum] E\nA B":                 "no B before this row",
		"[value] V\nA 1":                "does not end in",
		"[handle type]\nA 1":            "what the datatype is, is missing",
		"[handle type]\nA 1 int":        `no kind of datatypes "int"`,
		"[handle type]\nA 1 int32 4":    `does not have "4"`,
		"[handle type]\nA 1 raw":        "raw needs a size",
		"[handle type]\nA 1 raw 0":      `does not have "0"`,
		"[handle type]\nA 1 raw 20 3 2": "",
		"[handle type]\nA 1 raw 2 3 4":  `does not have "4"`,
		"[handle comm]\nA 1 int32":      "does not end in",
	} {
		_, err := parseConstants("c", row)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", row, err, want)
		}
	}
}

// The engine knows the kinds, with these sizes; and a handle of a type whose size the
// standard fixes has the logarithm of it in its bits 3 to 5 (MPI-5.0 §20.3).
func TestDatatypesAreAsTheEngineHasThem(t *testing.T) {
	sizes := map[string]int{}
	for k := datatype.Bool; k.Size() > 0; k++ {
		sizes[k.String()] = k.Size()
	}
	for name, size := range datatypes {
		if sizes[name] != size[0] {
			t.Errorf("%s has %d bytes, in the engine %d", name, size[0], sizes[name])
		}
	}
	groups, err := Constants()
	if err != nil {
		t.Fatal(err)
	}
	alive := 0
	for _, g := range groups {
		for _, c := range g.Constants {
			d := c.Datatype
			if d == nil {
				continue
			}
			alive++
			if size := 1 << (c.Value >> 3 & 7); c.Value >= 0x240 && d.Size != size {
				t.Errorf("MPI_%s has %d bytes, by its handle %d", c.Name, d.Size, size)
			}
		}
	}
	if alive != 68 {
		t.Errorf("%d datatypes are alive", alive)
	}
}
