package abitest

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/capi/spec"
)

// The library shows each function under both names, MPI_X as a weak alias of PMPI_X, and
// nothing else. It needs libc only.
func TestTheLibraryShowsTheFunctionsOfMPIOnly(t *testing.T) {
	file, err := elf.Open(filepath.Join(library(t), "lib", "libmpi_abi.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]elf.Symbol{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			shown[s.Name] = s
		}
	}
	functions, _, err := spec.Functions()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		alias, its := shown["MPI_"+f.Name], shown["PMPI_"+f.Name]
		if its.Value == 0 || alias.Value != its.Value || elf.ST_BIND(alias.Info) != elf.STB_WEAK {
			t.Errorf("MPI_%s is not a weak alias of PMPI_%s", f.Name, f.Name)
		}
		delete(shown, "MPI_"+f.Name)
		delete(shown, "PMPI_"+f.Name)
	}
	for name := range shown {
		t.Errorf("the library shows %s", name)
	}
	if name, err := file.DynString(elf.DT_SONAME); err != nil || !slices.Equal(name, []string{"libmpi_abi.so.1"}) {
		t.Errorf("it is called %q: %v", name, err)
	}
	needed, err := file.ImportedLibraries()
	for _, name := range needed {
		if !strings.HasPrefix(name, "libc.so") && !strings.HasPrefix(name, "libpthread.so") && !strings.HasPrefix(name, "ld-linux") {
			t.Errorf("it needs %s", name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAToolIsLoadedOverTheLibrary(t *testing.T) {
	t.Parallel()
	program, tool := compile(t, "mpicc", "testdata/ring.c"), compile(t, "mpicc", "testdata/tool.c", "-shared", "-fPIC")
	out, err := job(t, 2, nil, []string{"LD_PRELOAD=" + tool}, program)
	for _, line := range []string{"2 ranks: 9\n", "rank 0: 3 sends\n", "rank 1: 3 sends\n"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in what is printed", line)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestExceptionsPassTheLibrary(t *testing.T) {
	t.Parallel()
	need(t, "c++")
	program := compile(t, "mpicxx", "testdata/exceptions.cc")
	for _, n := range []int{0, 1, 2} {
		silent(t, n, program)
	}
}

// A C program that crashes is killed by its signal, as without the library.
func TestACrashIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	program := compile(t, "mpicc", "testdata/crash.c", "-pthread")
	for _, args := range [][]string{nil, {"thread"}} {
		for _, n := range []int{0, 2} {
			out, err := job(t, n, nil, []string{"GOTRACEBACK=all"}, append([]string{program}, args...)...)
			said := "was killed by signal 11 (segmentation fault)"
			if n == 0 {
				out, said = fmt.Sprint(out, err), "signal: segmentation fault"
			}
			if err == nil || !strings.Contains(out, said) || strings.Contains(out, "goroutine") {
				t.Errorf("%d ranks, %q: %v, want %q:\n%s", n, args, err, said, out)
			}
		}
	}
}

func TestSignalsAndChildrenAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	program := compile(t, "mpicc", "testdata/signals.c")
	for _, n := range []int{0, 2} {
		silent(t, n, program)
		silent(t, n, program, "before MPI_Init")
	}
}

func TestALoadedLibraryStays(t *testing.T) {
	t.Parallel()
	tree := library(t)
	program := filepath.Join(t.TempDir(), "program")
	// Not by mpicc: it is not linked with the library.
	if out, err := exec.Command("cc", "-I", filepath.Join(tree, "include"), "-o", program, "testdata/dlopen.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{0, 2} {
		silent(t, n, program, filepath.Join(tree, "lib", "libmpi_abi.so.1"))
	}
}

func TestPythonLoadsTheLibrary(t *testing.T) {
	t.Parallel()
	tree := library(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	for _, n := range []int{0, 2} {
		silent(t, n, python, "testdata/calls.py", filepath.Join(tree, "lib", "libmpi_abi.so.1"))
	}
}
