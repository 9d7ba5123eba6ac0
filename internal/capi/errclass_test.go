package capi

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestTextsAreForC(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"take World.Comm, or what Dup has returned", "take MPI_COMM_WORLD, or what MPI_Comm_dup has returned"},
		{"rank -1 is AnySource", "rank -1 is MPI_ANY_SOURCE"},
		{`the communicator "Merge" has no topology`, `the communicator "Merge" has no topology`},
		{"LockAll ends an epoch of Lockers", "MPI_Win_lock_all ends an epoch of Lockers"},
		{"another goroutine disconnects it; the group is nil", "another thread disconnects it; the group is null"},
	} {
		if got := inC(row.in); got != row.want {
			t.Errorf("%q: %q", row.in, got)
		}
	}
	for class, want := range map[mpi.Class]string{0: "no error", mpi.ErrRank: "invalid rank", errABI: "invalid use of the ABI", 1003: "another error", lastCode + 4000: ""} {
		if got := said.text(int32(class)); got != want {
			t.Errorf("class %d: %q", class, got)
		}
	}
	code := said.code(fail(mpi.ErrArg, "the World.Comm of %d", 7))
	if got, want := said.text(code), "the MPI_COMM_WORLD of 7"; got != want || classOf(code) != mpi.ErrArg {
		t.Errorf("code %#x of class %d: %q", code, classOf(code), got)
	}
}

// Only the newest texts are kept; codes stay of their class.
func TestOldCodesHaveTheTextOfTheirClass(t *testing.T) {
	old := said.code(fail(mpi.ErrTag, "the first"))
	for range len(said.texts) {
		said.code(fail(mpi.ErrRank, "another"))
	}
	if got := said.text(old); got != "invalid tag" || classOf(old) != mpi.ErrTag {
		t.Errorf("code %#x of class %d: %q", old, classOf(old), got)
	}
}
