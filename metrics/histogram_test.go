package metrics_test

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// histogramOf is the histogram of some values.
func histogramOf(t *testing.T, unit string, values []uint64) *dto.Histogram {
	t.Helper()
	var h counters.Histogram
	for _, v := range values {
		h.Add(v)
	}
	var s counters.Snapshot
	s.AddHistogram(counters.Family{Name: "weft_h", Help: "H.", Unit: unit}, &h)
	return gather(t, metrics.Collector(func() counters.Snapshot { return s }, nil))["weft_h"].Metric[0].Histogram
}

// nativeCounts are the native buckets of schema 0 by index.
func nativeCounts(h *dto.Histogram) map[int]int64 {
	out := map[int]int64{}
	index, n, next := int32(0), int64(0), 0
	for _, span := range h.PositiveSpan {
		index += span.GetOffset()
		for range span.GetLength() {
			n += h.PositiveDelta[next]
			next++
			out[int(index)] = n
			index++
		}
	}
	return out
}

// Both kinds of buckets count each value in the bucket that it belongs in.
func TestHistogramsAreExact(t *testing.T) {
	some := []uint64{0, 0, 1, 2, 3, 4, 5, 7, 8, 9, 64, 65, 1000, 1 << 20, 1<<20 + 1, 1 << 30, 1<<30 + 1, 1 << 40, 1 << 62}
	for _, c := range []struct {
		unit  string
		scale float64
	}{{"bytes", 1}, {"seconds", counters.HistogramSecond}} {
		for n := range len(some) + 1 {
			values := some[:n]
			h := histogramOf(t, c.unit, values)
			sum, native, zeros := 0.0, map[int]int64{}, uint64(0)
			for _, v := range values {
				sum += float64(v) / c.scale
				if v == 0 {
					zeros++
					continue
				}
				native[int(math.Ceil(math.Log2(float64(v)/c.scale)-1e-9))]++
			}
			if h.GetSampleCount() != uint64(n) || math.Abs(h.GetSampleSum()-sum) > 1e-9*sum || h.GetZeroCount() != zeros {
				t.Errorf("%d values of %s: %d in all, sum %g instead of %g, %d zeros instead of %d", n, c.unit, h.GetSampleCount(), h.GetSampleSum(), sum, h.GetZeroCount(), zeros)
			}
			for _, b := range h.Bucket {
				want := uint64(0)
				for _, v := range values {
					if float64(v)/c.scale <= b.GetUpperBound() {
						want++
					}
				}
				if b.GetCumulativeCount() != want {
					t.Errorf("%d values of %s: %d up to %g instead of %d", n, c.unit, b.GetCumulativeCount(), b.GetUpperBound(), want)
				}
			}
			got := nativeCounts(h)
			for i, want := range native {
				// 2^20+1 and 2^30+1 are the first of their bucket, and too near its bound for the logarithm.
				if got[i]+got[i+1] < want {
					t.Errorf("%d values of %s: native bucket %d has %d instead of %d", n, c.unit, i, got[i], want)
				}
			}
			inAll := int64(zeros)
			for _, n := range got {
				inAll += n
			}
			if inAll != int64(n) {
				t.Errorf("%d values of %s: native buckets have %d", n, c.unit, inAll)
			}
		}
	}
}

// Native buckets of one value each: the bounds belong to the lower one.
func TestBoundsAreOfTheLowerBucket(t *testing.T) {
	for p := range 40 {
		bound := uint64(1) << p
		for _, c := range []struct {
			v     uint64
			index int
		}{{bound, p}, {bound + 1, p + 1}} {
			if got := nativeCounts(histogramOf(t, "bytes", []uint64{c.v})); got[c.index] != 1 || len(got) != 1 {
				t.Errorf("%d bytes are in %v instead of %d", c.v, got, c.index)
			}
			if got := nativeCounts(histogramOf(t, "seconds", []uint64{c.v})); got[c.index-30] != 1 || len(got) != 1 {
				t.Errorf("%d units of time are in %v instead of %d", c.v, got, c.index-30)
			}
		}
	}
}

func TestARowThatDoesNotFitFailsItsScrape(t *testing.T) {
	for _, histogram := range []bool{false, true} {
		var s counters.Snapshot
		f := counters.Family{Name: "weft_x", Help: "X.", Labels: []string{"one"}}
		if histogram {
			s.AddHistogram(f, &counters.Histogram{}, "1", "2")
		} else {
			s.Add(f, 1)
		}
		reg := prometheus.NewRegistry()
		reg.MustRegister(metrics.Collector(func() counters.Snapshot { return s }, nil))
		if _, err := reg.Gather(); err == nil {
			t.Errorf("a histogram %t: no error", histogram)
		}
	}
}
