package verbs

import (
	"slices"
	"testing"
	"time"
)

func BenchmarkEmptyPoll(b *testing.B) {
	ds, _ := pair(b)
	for b.Loop() {
		ds[0].Poll(nobody{}, 64)
	}
}

// BenchmarkTurns is a round trip of 8 bytes where one goroutine does both
// sides.
func BenchmarkTurns(b *testing.B) {
	ds, eps := pair(b)
	body := make([]byte, 8)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		for i := range 2 {
			if err := eps[i].Send(1, 0, nil, body); err != nil {
				b.Fatal(err)
			}
			for c := (counter{}); c.n == 0; {
				ds[1-i].Poll(&c, 64)
			}
		}
		took = append(took, time.Since(start))
	}
	median(b, took)
}

// median reports what a shared machine disturbs least.
func median(b *testing.B, took []time.Duration) {
	b.ReportMetric(float64(middle(took).Nanoseconds()), "median-ns")
}

// middle is the median. It sorts.
func middle(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

// BenchmarkPingPong is the same between two goroutines.
func BenchmarkPingPong(b *testing.B) {
	ds, eps := pair(b)
	body := make([]byte, 8)
	stop := make(chan struct{})
	go func() {
		c := counter{}
		for {
			select {
			case <-stop:
				stop <- struct{}{}
				return
			default:
			}
			for i := 0; i < 100; i++ {
				if ds[1].Poll(&c, 64); c.n > 0 {
					c.n = 0
					eps[1].Send(1, 0, nil, body)
				}
			}
		}
	}()
	for b.Loop() {
		for eps[0].Send(1, 0, nil, body) != nil {
			ds[0].Poll(nobody{}, 64)
		}
		for c := (counter{}); c.n == 0; {
			ds[0].Poll(&c, 64)
		}
	}
	stop <- struct{}{}
	<-stop
}

// BenchmarkRate streams 8 bytes in windows of 64, one goroutine on both sides.
func BenchmarkRate(b *testing.B) {
	ds, eps := pair(b)
	body := make([]byte, 8)
	b.ReportAllocs()
	c := counter{}
	for b.Loop() {
		for range 64 {
			for eps[0].Send(1, 0, nil, body) != nil {
				ds[0].Poll(nobody{}, 64)
			}
		}
		for c.n = 0; c.n < 64; {
			ds[0].Poll(nobody{}, 64)
			ds[1].Poll(&c, 64)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64), "ns/message")
}
