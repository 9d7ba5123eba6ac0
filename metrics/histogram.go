package metrics

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/weft-mpi/weft/progress/counters"
)

// histogram is a histogram with classic buckets and native ones. The latter are those
// of schema 0, whose bounds are powers of two, as counters.Buckets has them.
type histogram struct {
	desc    *prometheus.Desc
	seconds bool
	row     *counters.Row
	values  []string
}

func (h *histogram) Desc() *prometheus.Desc { return h.desc }

// unit is what the values of the histogram are divided by, and its logarithm.
func (h *histogram) unit() (float64, int) {
	if h.seconds {
		return counters.HistogramSecond, 30
	}
	return 1, 0
}

// The classic buckets are powers of four between these powers of two.
const (
	leastSeconds, mostSeconds = -22, 4 // 238 ns to 16 s
	leastBytes, mostBytes     = 0, 30  // to 1 GB
)

// Write makes prometheus.Metric complete.
func (h *histogram) Write(out *dto.Metric) error {
	unit, shift := h.unit()
	count := uint64(0)
	for _, n := range h.row.Buckets {
		count += n
	}
	sum := float64(h.row.Value) / unit
	out.Label = prometheus.MakeLabelPairs(h.desc, h.values)
	out.Histogram = &dto.Histogram{SampleCount: &count, SampleSum: &sum}
	least, most := leastBytes, mostBytes
	if h.seconds {
		least, most = leastSeconds, mostSeconds
	}
	below, next := uint64(0), 0
	for p := least; p <= most; p += 2 {
		for ; next <= p+shift+1; next++ { // bucket i ends at 2^(i-1)
			below += h.row.Buckets[next]
		}
		cumulative, bound := below, math.Ldexp(1, p)
		out.Histogram.Bucket = append(out.Histogram.Bucket, &dto.Bucket{CumulativeCount: &cumulative, UpperBound: &bound})
	}
	h.native(out.Histogram, shift)
	return nil
}

// native adds the native buckets.
func (h *histogram) native(out *dto.Histogram, shift int) {
	schema, threshold, zeros := int32(0), prometheus.DefNativeHistogramZeroThreshold, h.row.Buckets[0]
	out.Schema, out.ZeroThreshold, out.ZeroCount = &schema, &threshold, &zeros
	last, before := int32(0), int64(0)
	for i := 1; i < len(h.row.Buckets); i++ {
		n := int64(h.row.Buckets[i])
		if n == 0 {
			continue
		}
		index := int32(i - 1 - shift) // (2^(index-1), 2^index]
		if spans := out.PositiveSpan; len(spans) > 0 && index == last+1 {
			*spans[len(spans)-1].Length++
		} else {
			offset, length := index, uint32(1)
			if len(spans) > 0 {
				offset = index - last - 1
			}
			out.PositiveSpan = append(spans, &dto.BucketSpan{Offset: &offset, Length: &length})
		}
		out.PositiveDelta = append(out.PositiveDelta, n-before)
		last, before = index, n
	}
	if len(out.PositiveSpan) == 0 { // which tells an empty native one from a classic one
		offset, length := int32(0), uint32(0)
		out.PositiveSpan = []*dto.BucketSpan{{Offset: &offset, Length: &length}}
	}
}
