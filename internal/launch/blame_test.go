package launch

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"
)

// playBlames: rank 0 fails first, and its process is the last to end.
func playBlames() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if j.Rank > 0 {
		j.Blame(0)
		j.Blame(3 - j.Rank) // counts no more
		os.Exit(1)
	}
	<-j.Events()
	<-j.Events()
	os.Exit(9)
	return nil
}

func TestTheFirstFailureIsTheOneThatOthersNameAsTheirReason(t *testing.T) {
	for name, where := range map[string]func(*Launch){"here": func(*Launch) {}, "agents": agents(Host{"a", 1}, Host{"b", 2})} {
		_, err := launch(t, 3, "blames", where)
		if got := exits(err); len(got) != 3 || !reflect.DeepEqual(got[0], ExitError{Rank: 0, Code: 9}) || ExitCode(err) != 9 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyRanksOfTheJobAreBlamed(t *testing.T) {
	for _, p := range []string{"", "\x01\x00\x00", "\x03\x00\x00\x00", "\xff\xff\xff\xff", "\x00\x00\x00\x00\x00"} {
		if _, err := parseBlame([]byte(p), 3); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v", p, err)
		}
	}
}
