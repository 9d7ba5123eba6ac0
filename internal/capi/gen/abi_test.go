package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/capi/spec"
)

// compiler is the path of a compiler. With WEFT_CI=1 it must be there.
func compiler(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("%v, and WEFT_CI=1 says that it must be there", err)
		}
		t.Skip(err)
	}
	return path
}

// compile checks a text as the language that the arguments say, with mpi.h from a folder.
func compile(t *testing.T, text, include, compiler string, args ...string) {
	t.Helper()
	cmd := exec.Command(compiler, append(args, "-fsyntax-only", "-I", include, "-")...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.4000s", err, out)
	}
}

const ours = "../../../cmd/libmpi-abi/include"

func TestTheHeaderCompilesWithoutWarnings(t *testing.T) {
	for _, std := range []string{"c89", "c99", "c11", "c++98", "c++17"} {
		t.Run(std, func(t *testing.T) {
			name, language := "gcc", "c"
			if strings.HasPrefix(std, "c++") {
				name, language = "g++", "c++"
			}
			text := "#include <mpi.h>\n#include <mpi.h>\nint main(int argc, char **argv) { return MPI_Init(&argc, &argv); }\n"
			compile(t, text, ours, compiler(t, name), "-x", language, "-std="+std, "-pedantic", "-Wall", "-Wextra", "-Wundef", "-Werror")
		})
	}
}

func TestOurHeaderIsTheTable(t *testing.T) { compareHeader(t, filepath.Join(ours, "mpi.h")) }

// Where another MPI with the ABI is installed, its header has to say what the table says.
func TestInstalledHeadersAreTheTable(t *testing.T) {
	var paths []string
	if p := os.Getenv("WEFT_ABI_HEADER"); p != "" {
		paths = filepath.SplitList(p)
	}
	for _, dir := range []string{"/usr/lib/*/mpi_abi_mpich/include", "/usr/lib/*/openmpi/include/standard_abi", "/usr/local/include/mpi_abi"} {
		found, _ := filepath.Glob(filepath.Join(dir, "mpi.h"))
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Skip("no header of the ABI is installed, and WEFT_ABI_HEADER names none")
	}
	for _, p := range paths {
		t.Run(p, func(t *testing.T) { compareHeader(t, p) })
	}
}

// What headers do not agree about. MPICH has an int in the form of these calls without _c,
// where the standard and Open MPI have an MPI_Count and no _c; Open MPI's constant is an int.
var disputed = map[string]bool{
	"Psend_init": true, "Psend_init_c": true, "Precv_init": true, "Precv_init_c": true, "DISPLACEMENT_CURRENT": true,
}

// Names that a header may have and the table has not: Fortran's, an extension, and types.
var notOurs = regexp.MustCompile(`^(F_STATUS(ES)?_IGNORE|F08_.*|H_.*|ABI_(Aint|Offset|Count|Fint)|\w+_(c2f|f2c|f082c|c2f08))$`)

var (
	comments   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	prototypes = regexp.MustCompile(`(?m)^[A-Za-z_][\w \t]*[ *]MPI_(\w+)\s*\([^;{}]*\)\s*;`)
	constants  = regexp.MustCompile(`(?m)^\s*#\s*define\s+MPI_(\w+)[ \t]+\S|\bMPI_(\w+)\s*=[^=]`)
)

// compareHeader has C assert what the table says of the header, and looks for what the
// header has besides.
func compareHeader(t *testing.T, path string) {
	gcc := compiler(t, "gcc")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := comments.ReplaceAllString(string(b), "")
	declared, defined := map[string]bool{}, map[string]bool{}
	for _, m := range prototypes.FindAllStringSubmatch(text, -1) {
		declared[m[1]] = true
	}
	for _, m := range constants.FindAllStringSubmatch(text, -1) {
		defined[m[1]+m[2]] = true
	}
	if len(declared) < 600 || len(defined) < 300 {
		t.Fatalf("%d functions and %d constants only were seen", len(declared), len(defined))
	}
	table, err := load("../../..")
	if err != nil {
		t.Fatal(err)
	}
	asserts, missing := assertions(table, declared, defined)
	for _, name := range missing {
		t.Errorf("the header has no MPI_%s", name)
	}
	for _, names := range []map[string]bool{declared, defined} {
		for name := range names {
			if !notOurs.MatchString(name) {
				t.Errorf("MPI_%s is not in the table", name)
			}
		}
	}
	args := []string{"-x", "c", "-std=gnu11", "-Wall"}
	compile(t, asserts, filepath.Dir(path), gcc, args...)
	if runtime.GOARCH == "amd64" { // with 32 bits an MPI_Aint and an MPI_Count differ
		compile(t, asserts, filepath.Dir(path), gcc, append(args, "-m32", "-ffreestanding")...)
	}
}

// assertions is a C text that compiles with an mpi.h that agrees with the table. What it
// is about is taken out of the two sets; what is missing there is left out, and returned
// unless it is deprecated: Open MPI has nothing of what MPI-2.0 deprecated.
func assertions(t *table, declared, defined map[string]bool) (text string, missing []string) {
	w := &writer{}
	w.line("#include <stddef.h>\n#include <mpi.h>\n#define SAME(...) __builtin_types_compatible_p(__VA_ARGS__)")
	for _, layout := range []string{
		"sizeof(MPI_Aint) == sizeof(void *)", "sizeof(MPI_Offset) == 8", "sizeof(MPI_Count) == 8", "sizeof(MPI_Status) == 32",
		"(MPI_Aint)-1 < 0", "(MPI_Offset)-1 < 0", "(MPI_Count)-1 < 0",
		"offsetof(MPI_Status, MPI_SOURCE) == 0", "offsetof(MPI_Status, MPI_TAG) == 4", "offsetof(MPI_Status, MPI_ERROR) == 8",
	} {
		w.line("_Static_assert(%s, %q);", layout, layout)
	}
	there := func(set map[string]bool, name, deprecated string) bool {
		ok := set[name]
		if delete(set, name); !ok && deprecated == "" && !disputed[name] {
			missing = append(missing, name)
		}
		return ok
	}
	for _, f := range t.callbacks {
		w.line("_Static_assert(SAME(MPI_%s, %s(%s)), \"MPI_%[1]s\");", f.Name, f.Returns.C(), f.Parameters(false))
	}
	for _, f := range t.functions {
		if there(declared, f.Name, f.Deprecated) && !disputed[f.Name] {
			for _, name := range []string{"MPI_" + f.Name, "PMPI_" + f.Name} {
				w.line("_Static_assert(SAME(__typeof__(%s), %s(%s)), \"%[1]s\");", name, f.Returns.C(), f.Parameters(false))
			}
		}
	}
	for _, g := range t.groups {
		for _, c := range g.Constants {
			if there(defined, c.Name, c.Deprecated) {
				assertConstant(w, g, c)
			}
		}
	}
	return w.String(), missing
}

func assertConstant(w *writer, g spec.Group, c spec.Constant) {
	want := fmt.Sprint(c.Value)
	if c.Alias != "" {
		want = "(intptr_t)MPI_" + c.Alias
	}
	w.line("_Static_assert((intptr_t)MPI_%s == %s, \"MPI_%[1]s\");", c.Name, want)
	if typ := c.Type + g.Handle.C(); typ != "" && !disputed[c.Name] {
		w.line("_Static_assert(SAME(__typeof__(MPI_%s), %s), \"type of MPI_%[1]s\");", c.Name, typ)
	}
}
