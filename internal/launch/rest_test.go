package launch

import (
	"context"
	"errors"
	"os"
	"testing"
)

func init() {
	roles["rests"] = func() error { return playRest(true, 0) }
	roles["resumed"] = func() error { return playRest(false, 0) }
	roles["rests and fails"] = func() error { return playRest(true, 5) }
}

// playRest rests, goes on, and ends without Close.
func playRest(rests bool, code int) error {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if err := errors.Join(j.Rest(), j.Resume()); err != nil {
			return err
		}
		if _, err := j.Exchange(ctx, []byte("still here")); err != nil {
			return err
		}
	}
	if rests {
		err = j.Rest()
	}
	if err != nil || code == 0 {
		return err
	}
	os.Exit(code)
	return nil
}

func TestARankThatRestsMayExit(t *testing.T) {
	for _, n := range []int{1, 3} {
		if out, err := launch(t, n, "rests"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestRestWithoutALauncherIsClose(t *testing.T) {
	j, err := worldOfOne()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Resume(), j.Rest(), j.Resume()); err != nil {
		t.Error(err)
	}
	if _, err := j.Exchange(t.Context(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Exchange after Rest: %v", err)
	}
}

func TestOnlyRestsOfAByteAreRead(t *testing.T) {
	for _, p := range []string{"", "\x02", "\x00\x00"} {
		if _, err := parseRest([]byte(p)); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v", p, err)
		}
	}
}
