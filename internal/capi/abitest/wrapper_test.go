package abitest

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// moved returns a copy of the library's folder at another place, whose name has a space.
func moved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "moved here")
	if err := os.CopyFS(dir, os.DirFS(library(t))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// output runs a command in a folder of its own, and returns what it has printed.
func output(t *testing.T, env []string, command string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestWhatTheWrappersAdd(t *testing.T) {
	t.Parallel()
	tree := library(t)
	compiling, linking := "-I"+tree+"/include", "-L"+tree+"/lib -lmpi_abi -Wl,-rpath,"+tree+"/lib"
	for _, c := range []struct{ wrapper, args, want string }{
		{"mpicc", "-show a.c", "cc " + compiling + " a.c " + linking},
		{"mpicc", "a.c -o a --showme", "cc " + compiling + " a.c -o a " + linking},
		{"mpicc", "-show -c a.c", "cc " + compiling + " -c a.c"},
		{"mpicc", "-show -E a.c", "cc " + compiling + " -E a.c"},
		{"mpicc", "-show -S a.c", "cc " + compiling + " -S a.c"},
		{"mpicc", "-show", "cc " + compiling + " " + linking},
		{"mpicc", "-compile-info", compiling},
		{"mpicc", "-show-compile-info", compiling},
		{"mpicc", "-link-info", linking},
		{"mpicc", "-show-link-info", linking},
		{"mpicc", "-cc=clang -show -c a.c", "clang " + compiling + " -c a.c"},
		{"mpicxx", "-show -c a.cc", "c++ " + compiling + " -c a.cc"},
		{"mpicxx", "-show-link-info", linking},
	} {
		got, err := output(t, []string{"MPICC_CC=", "MPICXX_CXX="}, filepath.Join(tree, "bin", c.wrapper), strings.Fields(c.args)...)
		if err != nil || got != c.want+"\n" {
			t.Errorf("%s %s: %v, it prints\n%swant\n%s", c.wrapper, c.args, err, got, c.want)
		}
	}
	if got, _ := output(t, []string{"MPICC_CC=ccache gcc"}, filepath.Join(tree, "bin", "mpicc"), "-show", "-c", "a.c"); got != "ccache gcc "+compiling+" -c a.c\n" {
		t.Errorf("MPICC_CC is not the compiler: %s", got)
	}
	// Without a file the compiler answers, and links nothing.
	if got, err := output(t, nil, filepath.Join(tree, "bin", "mpicc"), "--version"); err != nil {
		t.Errorf("mpicc --version: %v\n%s", err, got)
	}
}

// The wrappers and what they build find the library where it is, called by symbolic links
// too.
func TestTheFolderMayMove(t *testing.T) {
	t.Parallel()
	tree := moved(t)
	source, err := filepath.Abs("testdata/ring.c")
	if err != nil {
		t.Fatal(err)
	}
	wrappers := map[string]string{"mpicc": source}
	if _, err := exec.LookPath("c++"); err == nil {
		wrappers["mpicxx"] = filepath.Join(filepath.Dir(source), "exceptions.cc")
	}
	for wrapper, source := range wrappers {
		link, program := filepath.Join(t.TempDir(), "compiler"), filepath.Join(t.TempDir(), "two words")
		if err := os.Symlink(filepath.Join(tree, "bin", wrapper), link); err != nil {
			t.Fatal(err)
		}
		if out, err := output(t, nil, link, "-o", program, source); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		mpiexec := filepath.Join(t.TempDir(), "start")
		if err := os.Symlink(filepath.Join(tree, "bin", "mpiexec"), mpiexec); err != nil {
			t.Fatal(err)
		}
		if out, err := output(t, nil, mpiexec, "-n", "2", "--bind", "none", program); err != nil || out != "" && out != "2 ranks: 9\n" {
			t.Errorf("%s: %v\n%s", wrapper, err, out)
		}
		if path := runpath(t, program); path != tree+"/lib" {
			t.Errorf("%s: the program looks for the library in %s, want %s/lib", wrapper, path, tree)
		}
	}
}

// runpath returns where a program looks for its libraries.
func runpath(t *testing.T, program string) string {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		if path, err := file.DynString(tag); err == nil && len(path) == 1 {
			return path[0]
		}
	}
	return ""
}

// A weft that prints its arguments stands beside mpiexec here.
func TestMpiexecTakesTheStandardsArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mpiexec := filepath.Join(dir, "mpiexec")
	for name, from := range map[string]string{"mpiexec": filepath.Join(root, "scripts/capi.d/mpiexec"), "weft": "testdata/weft"} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string // what it prints
		code int
	}{
		{[]string{"-n", "2", "prog", "-n", "3"}, "[run] [--n=2] [prog] [-n] [3] A= B=\n", 0},
		{[]string{"-np", "1", "-env", "A", "it's one", "-genv", "B", "$two", "prog"}, "[run] [--n=1] [prog] A=it's one B=$two\n", 0},
		{[]string{"-wdir", "/a b/it's", "-l", "prog", "a  b", "$A", "\"`"}, "[run] [--wdir=/a b/it's] [--label] [prog] [a  b] [$A] [\"`] A= B=\n", 0},
		{[]string{"-hosts", "a:2,b:2", "-n", "4", "--bind", "none", "prog"}, "[run] [--hosts=a:2,b:2] [--n=4] [--bind] [none] [prog] A= B=\n", 0},
		{[]string{"-host", "a", "-f", "hosts file", "prog"}, "[run] [--hosts=a] [--hostfile=hosts file] [prog] A= B=\n", 0},
		{[]string{"-n"}, "mpiexec: -n wants 1 more argument\n", 2},
		{[]string{"-n", "1", "-env", "A"}, "mpiexec: -env wants 2 more arguments\n", 2},
		{[]string{"-env", "A B", "c", "prog"}, "mpiexec: -env A B: that is no name of a variable\n", 2},
		{[]string{"-n", "1", "prog", ":", "-n", "1", "prog"}, "mpiexec: one program only: ':' between programs (MPMD) is not there; start one that does as its rank says\n", 2},
	} {
		got, err := output(t, []string{"A=", "B="}, mpiexec, c.args...)
		code := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if got != c.want || code != c.code {
			t.Errorf("mpiexec %q: code %d, it prints\n%swant code %d and\n%s", c.args, code, got, c.code, c.want)
		}
	}
	if got, err := output(t, nil, mpiexec, "-help"); err != nil || !strings.Contains(got, "mpiexec [-n N]") {
		t.Errorf("mpiexec -help: %v\n%s", err, got)
	}
}

// Build systems ask pkg-config.
func TestPkgConfigKnowsTheLibrary(t *testing.T) {
	t.Parallel()
	tree := library(t)
	if _, err := exec.LookPath("pkg-config"); err != nil {
		t.Skip("pkg-config is not installed")
	}
	out, err := output(t, []string{"PKG_CONFIG_PATH=" + tree + "/lib/pkgconfig"}, "pkg-config", "--cflags", "--libs", "mpi_abi")
	if err != nil || !strings.Contains(out, "/include") || !strings.Contains(out, "-lmpi_abi") {
		t.Errorf("%v\n%s", err, out)
	}
}
