package floor

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/bench/spread"
)

// batch is the round trips between two reads of the clock: few enough that
// nothing else on the machine disturbs most batches.
const batch = 200

// stop is the value of the word that ends a ping-pong.
const stop = ^uint64(0)

// line measures half a round trip of one cache line in nanoseconds.
func line(a, b int, budget time.Duration) (spread.Spread, error) {
	if n := runtime.GOMAXPROCS(0); n < 2 {
		runtime.GOMAXPROCS(2)
		defer runtime.GOMAXPROCS(n)
	}
	// An allocation of whole pages starts on a page, so element 8 starts a
	// cache line.
	word := &make([]atomic.Uint64, 8192)[lineSize/8]
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- onCore(b, func() {
			close(started)
			pong(word)
		})
	}()
	select {
	case <-started:
	case err := <-ended:
		return spread.Spread{}, err
	}
	var samples []float64
	err := onCore(a, func() { samples = ping(word, budget) })
	word.Store(stop)
	if other := <-ended; err == nil {
		err = other
	}
	if err != nil {
		return spread.Spread{}, err
	}
	return spread.Of(samples), nil
}

// ping writes odd numbers and waits for even ones. Its Store pairs with the
// Load of pong, and the other way round.
func ping(word *atomic.Uint64, budget time.Duration) []float64 {
	var samples []float64
	n := uint64(1)
	for begin := time.Now(); len(samples) < 10 || time.Since(begin) < budget; {
		start := time.Now()
		for range batch {
			word.Store(n)
			for word.Load() != n+1 {
			}
			n += 2
		}
		samples = append(samples, float64(time.Since(start))/(2*batch))
	}
	return samples
}

func pong(word *atomic.Uint64) {
	for n := uint64(1); ; n += 2 {
		for {
			v := word.Load()
			if v == n {
				break
			}
			if v == stop {
				return
			}
		}
		word.Store(n + 1)
	}
}

// block is the length of one copy in bytes. From 1 MiB on Go's copy bypasses
// the caches, which is slower where they can hold the data.
const block = 256 << 10

// copies measures the rate of copying size bytes on core cpu, in GB/s.
func copies(cpu, size int, budget time.Duration) (spread.Spread, error) {
	var samples []float64
	err := onCore(cpu, func() {
		samples = copyLoop(make([]byte, size), make([]byte, size), budget)
	})
	if err != nil {
		return spread.Spread{}, err
	}
	return spread.Of(samples), nil
}

func copyLoop(dst, src []byte, budget time.Duration) []float64 {
	for i := range src {
		src[i], dst[i] = byte(i), 1 // so that each page exists
	}
	var samples []float64
	for begin := time.Now(); len(samples) < 10 || time.Since(begin) < budget; {
		start := time.Now()
		for at := 0; at < len(src); at += block {
			copy(dst[at:min(at+block, len(dst))], src[at:])
		}
		samples = append(samples, float64(len(src))/float64(time.Since(start)))
	}
	return samples[1:]
}

// onCore runs f on a thread that is bound to core cpu for that time.
func onCore(cpu int, f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the affinity of a thread: %w", err)
	}
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind a thread to core %d: %w", cpu, err)
	}
	f()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("unbind a thread from core %d: %w", cpu, err)
	}
	return nil
}

// allowed lists the cores that this process may use.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(unix.Getpid(), &set); err != nil {
		return nil, fmt.Errorf("read the affinity: %w", err)
	}
	var cpus []int
	for c := range len(set) * 64 {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}
