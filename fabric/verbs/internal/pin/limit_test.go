package pin

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheLimitOnLockedMemoryIsNamed(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &was); err != nil {
		t.Fatal(err)
	}
	less := was
	less.Cur = 64 << 10
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &less); err != nil {
		t.Skip(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &was)
	err := Explain("receive slots", 1<<20, unix.ENOMEM)
	for _, want := range []string{"65536", "1048576 bytes for receive slots", "LimitMEMLOCK=infinity"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if !errors.Is(err, unix.ENOMEM) {
		t.Error("the cause is lost")
	}
	if err := Explain("receive slots", 1<<20, unix.EINVAL); strings.Contains(err.Error(), "ulimit") {
		t.Errorf("%q names the limit, which is not the cause", err)
	}
}
