package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	stale, err := run("../../..", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("run go generate ./internal/capi/gen: %s", strings.Join(stale, " "))
	}
}

// library is a module with a C file and a Go file of the given texts.
func library(t *testing.T, c, goText string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"cmd/libmpi-abi/state.c": c, "cmd/libmpi-abi/gen_bodies.c": "MPI_API(Send, void)", "internal/capi/send.go": goText,
		"internal/capi/gen_functions.go": "package capi", "internal/capi/send_test.go": "package capi\n\nfunc recv(a *Args) error { return nil }",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAFunctionIsAnsweredInCOrInGoOrNowhere(t *testing.T) {
	root := library(t, "MPI_API(Comm_rank, MPI_Comm comm, int *rank)\n{\n}\nMPI_API_OF(double, Wtime, void)\nx MPI_API(Barrier,",
		"package capi\n\ntype Args struct{}\n\nfunc commRank(*Args) error\nfunc send(a *Args) error\nfunc commFree(a *Args) error\nfunc tFinalize(a *Args) error\n"+
			"func probe(a Args) error\nfunc bsend(a *Args) (int, error)\nfunc (a *Args) wait(b *Args) error\n")
	if differ, err := run(root, true); err != nil || len(differ) != 5 {
		t.Fatalf("%v, %v", differ, err)
	}
	if differ, err := run(root, false); err != nil || len(differ) != 0 {
		t.Errorf("a second time: %v, %v", differ, err)
	}
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	unsupported, bodies := text("internal/capi/gen/testdata/unsupported.txt"), text("cmd/libmpi-abi/gen_bodies.c")
	for name, want := range map[string]bool{
		"Comm_rank": false, "Wtime": false, "Send": false, "Send_c": false, "T_finalize": false, "Comm_free": false,
		"Barrier": true, "Recv": true, "Probe": true, "Bsend": true, "Wait": true, "Wtick": true, "T_init_thread": true,
	} {
		if got := strings.Contains("\n"+unsupported, "\nMPI_"+name+"\n"); got != want {
			t.Errorf("MPI_%s is in the list of those without an answer: %t", name, got)
		}
	}
	for _, want := range []string{`
MPI_API(Send_c, const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	static const char call[] = "MPI_Send_c";
	struct weft_args a;
	weft_about(&a, WEFT_COMM, W(comm), 1);
	WEFT_READY();
	WEFT_ALIVE(WEFT_COMM, comm);
	WEFT_ALIVE(WEFT_DATATYPE, datatype);
	a.word[0] = W(buf);
	a.word[1] = N(count);
	a.word[2] = W(datatype);
	a.word[3] = N(dest);
	a.word[4] = N(tag);
	a.word[5] = W(comm);
	return weft_answer(&a, weft_fn_Send_c, call);
}
`, `
MPI_API(Comm_free, MPI_Comm *comm)
{
	static const char call[] = "MPI_Comm_free";
	struct weft_args a;
	weft_about(&a, WEFT_COMM, comm ? W(*comm) : 0, 0);
	WEFT_READY();
	WEFT_GIVEN(comm);
	WEFT_ALIVE(WEFT_COMM, *comm);
	a.word[0] = W(comm);
	return weft_answer(&a, weft_fn_Comm_free, call);
}
`, `
MPI_API(T_finalize, void)
{
	struct weft_args a;
	return weft_go(weft_fn_T_finalize, &a);
}
`, `
MPI_API(Barrier, MPI_Comm comm)
{
	static const char call[] = "MPI_Barrier";
	struct weft_args a;
	weft_about(&a, WEFT_COMM, W(comm), 0);
	WEFT_READY();
	return weft_raise(&a, MPI_ERR_UNSUPPORTED_OPERATION, call);
}
`, `
MPI_API_OF(double, Wtick, void)
{
	return 0;
}
`} {
		if !strings.Contains(bodies, want) {
			t.Errorf("no body is as this one: %s", want)
		}
	}
	if !regexp.MustCompile(`\d+: +send, +// MPI_Send_c\n`).MatchString(text("internal/capi/gen_functions.go")) {
		t.Error("the table in Go has no send for MPI_Send_c")
	}
}

func TestAnAnswerInCIsOneOfTheTable(t *testing.T) {
	for _, c := range []string{"MPI_API(Comm_rnk, void)", "MPI_API(Send, void)\nMPI_API(Send, void)"} {
		if _, err := run(library(t, c, "package capi"), false); err == nil || !strings.Contains(err.Error(), "no function of the table") {
			t.Errorf("%q: %v", c, err)
		}
	}
}
