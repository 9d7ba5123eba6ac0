package shm

import (
	"time"

	"golang.org/x/sys/unix"
)

// From some size on a message is read from its sender's memory, in a system
// call, and no longer sent in pieces through the ring, which copies it twice.
// What the call costs differs between machines by ten times, a virtual one
// inside another having the dearest, so it is measured: on the process itself,
// which goes the same way.
const (
	// leastGet and mostSent bound the size.
	leastGet = 6 << 10
	mostSent = 64 << 10
	// announcing is what the messages before and after the call take.
	announcing = 300 * time.Nanosecond
	// sending is what 32 KB take through the ring, on processors that are slow at
	// it; where they are fast the size could be larger.
	sending = 3200 * time.Nanosecond
	// sample is how much is read for the time that a long call takes.
	sample = 32 << 10
	trials = 8
)

// measureGetMin finds the size from which reading is the faster way. It takes
// some tenths of a millisecond.
func measureGetMin() int {
	from, to := make([]byte, sample), make([]byte, sample)
	thread, addr := unix.Getpid(), addressOf(from)
	best := func(n int) (least time.Duration, err error) {
		for i := range 1 + trials {
			start := time.Now()
			if err = cmaRead(thread, to[:n], addr); err != nil {
				return 0, err
			}
			if t := time.Since(start); i == 1 || i > 1 && t < least { // the first touches the pages
				least = t
			}
		}
		return least, nil
	}
	short, err := best(8)
	if err != nil {
		return leastGet // nothing will be read
	}
	long, err := best(sample)
	if err != nil {
		return leastGet
	}
	return getMin(short, long)
}

// getMin is the size from which a call that takes short for hardly any bytes and
// long for a sample, with what goes with it, takes less time than the ring.
func getMin(short, long time.Duration) int {
	gain := sending - max(long-short, 0) // of reading a sample, without what each call costs
	if gain <= 0 {
		return mostSent
	}
	n := int(int64(sample) * int64(short+announcing) / int64(gain))
	return min(max(n&^(8<<10-1), leastGet), mostSent)
}
