package shm

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Dear calls make more go through the ring, between two bounds.
func TestSizeFromWhichToRead(t *testing.T) {
	const ns = time.Nanosecond
	for _, c := range []struct {
		short, long time.Duration
		want        int
	}{
		{0, 0, leastGet},
		{100 * ns, 1000 * ns, leastGet},
		{400 * ns, 1200 * ns, 8 << 10},
		{900 * ns, 1500 * ns, 8 << 10},
		{1000 * ns, 3000 * ns, 32 << 10},
		{1000 * ns, 4200 * ns, mostSent},
		{1000 * ns, 9000 * ns, mostSent},
		{20 * time.Microsecond, 22 * time.Microsecond, mostSent},
		{time.Hour, time.Hour, mostSent},
		{1000 * ns, 900 * ns, 8 << 10}, // a long call that was luckier
	} {
		if got := getMin(c.short, c.long); got != c.want {
			t.Errorf("calls of %v and %v: from %d bytes on, want %d", c.short, c.long, got, c.want)
		}
	}
}

// The measurement answers a size that a message can have, and one for ranks that
// may not read at all.
func TestSizeIsMeasured(t *testing.T) {
	for range 20 {
		if n := measureGetMin(); n < leastGet || n > mostSent {
			t.Fatalf("messages are read from %d bytes on", n)
		}
	}
	read := cmaRead
	defer func() { cmaRead = read }()
	cmaRead = func(int, []byte, uint64) error { return unix.EPERM }
	if n := measureGetMin(); n != leastGet {
		t.Errorf("without reading: from %d bytes on", n)
	}
}
