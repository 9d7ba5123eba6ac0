package metrics_test

import (
	"reflect"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// Counters and gauges are shown as what they are, in the unit of their name.
func TestSecondsAreShownAsSeconds(t *testing.T) {
	var s counters.Snapshot
	s.Add(counters.Family{Name: "weft_a_seconds_total", Help: "A.", Unit: "seconds"}, 2_500_000_000)
	s.Add(counters.Family{Name: "weft_b_seconds", Help: "B.", Unit: "seconds", Gauge: true}, 500_000_000)
	s.Add(counters.Family{Name: "weft_c_bytes_total", Help: "C.", Unit: "bytes"}, 1<<40+1)
	s.Add(counters.Family{Name: "weft_d", Help: "D.", Gauge: true}, 7)
	got := gather(t, metrics.Collector(func() counters.Snapshot { return s }, nil))
	for _, c := range []struct {
		name string
		kind dto.MetricType
		want float64
	}{
		{"weft_a_seconds_total", dto.MetricType_COUNTER, 2.5}, {"weft_b_seconds", dto.MetricType_GAUGE, 0.5},
		{"weft_c_bytes_total", dto.MetricType_COUNTER, 1<<40 + 1}, {"weft_d", dto.MetricType_GAUGE, 7},
	} {
		f := got[c.name]
		v := f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		if f.GetType() != c.kind || v != c.want {
			t.Errorf("%s is a %v of %v, not a %v of %v", c.name, f.GetType(), v, c.kind, c.want)
		}
	}
}

// The snapshots that a sum is made of are kept for later scrapes.
func TestASumLeavesTheRanksAlone(t *testing.T) {
	all := manyRanks(metrics.MaxRanks + 1)
	c := metrics.RanksCollector(func() map[int]counters.Snapshot { return all }, nil)
	for range 2 {
		gather(t, c)
	}
	if !reflect.DeepEqual(all, manyRanks(metrics.MaxRanks+1)) {
		t.Error("a scrape has changed the ranks' snapshots")
	}
}
