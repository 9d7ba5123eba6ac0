package main

import (
	"errors"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
)

// Osu-go does not repeat the error of a rank that has exited with a code, which
// the rank has printed. A rank that was killed has printed none.
func TestExitsOfRanksAreNotRepeated(t *testing.T) {
	exit := func(code int) error { return &launch.ExitError{Rank: 1, Code: code} }
	killed := &launch.ExitError{Rank: 2, Code: -1, Signal: syscall.SIGKILL}
	for _, c := range []struct {
		err  error
		only bool
	}{
		{nil, false},
		{exit(1), true},
		{errors.Join(exit(2), exit(1)), true},
		{errors.Join(errors.Join(exit(2)), exit(1)), true},
		{killed, false},
		{errors.Join(exit(1), killed), false},
		{&launch.ExitError{Err: launch.ErrNotFinalized}, false},
		{errors.Join(exit(1), errors.New("no space left on device")), false},
		{&launch.Interrupted{Signal: syscall.SIGINT}, false},
	} {
		if got := onlyExits(c.err); got != c.only {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}
