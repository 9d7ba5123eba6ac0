package metrics_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs"
	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

var fabrics = []string{"mem", "shm", "tcp"}

// gather returns what a collector has now, by name.
func gather(t *testing.T, c prometheus.Collector) map[string]*dto.MetricFamily {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(c)
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range all {
		out[f.GetName()] = f
	}
	return out
}

// series counts the series of metrics as a Prometheus does that takes the text.
func series(all map[string]*dto.MetricFamily) (n int) {
	for _, f := range all {
		for _, m := range f.Metric {
			if n++; m.Histogram != nil {
				n += len(m.Histogram.Bucket) + 2
			}
		}
	}
	return n
}

// together are the counts of ranks, of any fabric, as those of one rank.
func together(all ...counters.Snapshot) (out counters.Snapshot) {
	for _, s := range all {
		for _, f := range s.Families {
			for _, r := range f.Rows {
				at := slices.IndexFunc(out.Families, func(o counters.Family) bool { return o.Name == f.Name })
				if at < 0 {
					whole := f
					whole.Rows = nil
					out.Families = append(out.Families, whole)
					at = len(out.Families) - 1
				}
				to := &out.Families[at]
				if !slices.ContainsFunc(to.Rows, func(o counters.Row) bool { return slices.Equal(o.Values, r.Values) }) {
					to.Rows = append(to.Rows, r)
				}
			}
		}
	}
	return out
}

// ofVerbs is what a rank with an adapter has besides.
func ofVerbs() (out counters.Snapshot) {
	var s fabric.Stats
	new(verbs.Domain).Stats(&s)
	for _, c := range s.Counts {
		name := "weft_fabric_" + c.Name
		if !c.Gauge {
			name += "_total"
		}
		out.Add(counters.Family{Name: name, Help: c.Help, Unit: c.Unit, Gauge: c.Gauge, Labels: []string{"transport"}}, c.Value, s.Transport)
	}
	return out
}

// everything is what a rank has that uses everything, over two transports, and its
// launcher adds.
func everything(t *testing.T) counters.Snapshot {
	var all []counters.Snapshot
	for _, fabric := range []string{"shm", "tcp"} {
		all = append(all, slices.Collect(maps.Values(start(t, fabric).all()))...)
	}
	s := together(append(all, ofVerbs())...)
	s.Add(metrics.UpFamily, 1)
	return s
}

func TestARankHasFewSeries(t *testing.T) {
	s := everything(t)
	got := gather(t, metrics.Collector(func() counters.Snapshot { return s }, nil))
	if n := series(got); n > 400 {
		t.Errorf("a rank has %d series:", n)
		for _, name := range slices.Sorted(maps.Keys(got)) {
			t.Errorf("%4d %s", series(map[string]*dto.MetricFamily{name: got[name]}), name)
		}
	} else {
		t.Logf("a rank has %d series", n)
	}
}

// total is the sum of the rows of a family that have all of these values of labels.
func total(s *counters.Snapshot, name string, values ...string) (n uint64) {
	for _, f := range s.Families {
		for _, r := range f.Rows {
			if f.Name == name && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(r.Values, v) }) {
				n += r.Value
			}
		}
	}
	return n
}

func TestTheCountersTellWhatAJobHasDone(t *testing.T) {
	for _, fabric := range fabrics {
		t.Run(fabric, func(t *testing.T) {
			j := start(t, fabric)
			all := j.all()
			s, other := all[0], all[1]
			for _, c := range []struct {
				what      string
				got, want uint64
			}{
				{"Allreduce", total(&s, "weft_coll_calls_total", "Allreduce"), allreduces},
				{"Iallreduce", total(&s, "weft_coll_calls_total", "Iallreduce"), begunRounds},
				{"Gather by a tree", s.Value("weft_coll_calls_total", "Gather", "binomial"), 1},
				{"Gather of much", s.Value("weft_coll_calls_total", "Gather", "linear"), 1},
				{"rounds sent", s.Value("weft_part_rounds_total", "sent"), partRounds},
				{"rounds received by the sender", s.Value("weft_part_rounds_total", "received"), 0},
				{"rounds received", other.Value("weft_part_rounds_total", "received"), partRounds},
				{"bytes sent in rounds", s.Value("weft_part_bytes_total", "sent"), partRounds * 4 << 16},
				{"bytes received in rounds", other.Value("weft_part_bytes_total", "received"), partRounds * 4 << 16},
				{"blocks in half rounds", total(&s, "weft_part_blocks_total") % partRounds, 0},
				{"blocks that were late", s.Value("weft_part_blocks_total", "late"), total(&s, "weft_part_blocks_total") / 2},
				{"bytes sent that were not received", total(&s, "weft_bytes_total", "sent"), total(&other, "weft_bytes_total", "received")},
				{"bytes received that were not sent", total(&s, "weft_bytes_total", "received"), total(&other, "weft_bytes_total", "sent")},
				{"messages to itself", s.Value("weft_messages_total", fabric, "self", "received"), 1},
				{"unexpected at the end", other.Value("weft_unexpected_messages"), 0},
				{"peers down", total(&s, "weft_peers_down_total"), 0},
				{"communicators", s.Value("weft_communicators"), 2},
				{"windows", s.Value("weft_windows"), 0},
			} {
				if c.got != c.want {
					t.Errorf("%s: %d instead of %d", c.what, c.got, c.want)
				}
			}
			for _, c := range []struct {
				what       string
				got, least uint64
			}{
				{"bytes sent", total(&s, "weft_bytes_total", "sent"), shortMessages*shortBytes + longMessages*longBytes},
				{"messages sent", total(&s, "weft_messages_total", "sent"), shortMessages + longMessages},
				{"blocks", total(&s, "weft_part_blocks_total"), partRounds},
				{"unexpected messages at most", other.Value("weft_unexpected_messages_max"), 5},
				{"unexpected bytes at most", other.Value("weft_unexpected_bytes_max"), 500},
				{"polls", s.Value("weft_polls_total", "true"), 1},
				{"memory", total(&s, "weft_fabric_memory_bytes"), 1},
				{"requests timed", s.Count("weft_request_seconds", "receive") + s.Count("weft_request_seconds", "send") + s.Count("weft_request_seconds", "collective"), 1},
			} {
				if c.got < c.least {
					t.Errorf("%s: %d, not even %d", c.what, c.got, c.least)
				}
			}
			for i, op := range []string{"put", "get", "accumulate", "get_accumulate", "compare_and_swap"} {
				ops, far := uint64(windowTimes+i), uint64(windowTimes+i) // with the window that takes packets
				if fabric != "mem" {                                     // which reaches the memory of the other one by loads and stores
					ops *= 2
					if op != "put" && op != "get" { // which the fabric does
						far *= 2
					}
				}
				for rank := range all {
					s := all[rank]
					done, bytes, served := total(&s, "weft_rma_ops_total", op), total(&s, "weft_rma_bytes_total", op), s.Value("weft_rma_served_total", op)
					packets := s.Value("weft_rma_ops_total", op, "packets")
					if done != ops || bytes != 8*ops || served != far || packets != far {
						t.Errorf("%s: rank %d has made %d of %d, %d in packets of %d, with %d bytes, and has carried out %d of %d", op, rank, done, ops, packets, far, bytes, served, far)
					}
				}
			}
			if sent := s.Count("weft_message_size_bytes", fabric, "sent"); sent != total(&s, "weft_messages_total", "sent") {
				t.Errorf("the histogram has %d messages, the counter %d", sent, total(&s, "weft_messages_total", "sent"))
			}
		})
	}
}

// The last counters stay when a job is over, and those of the transports with them.
func TestTheCountersOutliveTheJob(t *testing.T) {
	for _, fabric := range fabrics {
		t.Run(fabric, func(t *testing.T) {
			j := start(t, fabric)
			c := metrics.Collector(j.snapshot, nil)
			before := gather(t, c)
			j.end(t)
			after := gather(t, c)
			for name, f := range before {
				if name != "weft_snapshot_age_seconds" && after[name].String() == "" {
					t.Errorf("%s is gone", name)
				}
				if len(after[name].GetMetric()) < len(f.Metric) {
					t.Errorf("%s was %v and is %v", name, f.Metric, after[name].GetMetric())
				}
			}
			for _, m := range after["weft_messages_total"].Metric {
				for _, l := range m.Label {
					if l.GetName() == "transport" && l.GetValue() != fabric {
						t.Errorf("messages went over %s", l.GetValue())
					}
				}
			}
		})
	}
}

func TestLabelsOfTheProgramAreAdded(t *testing.T) {
	var s counters.Snapshot
	s.Add(counters.Family{Name: "weft_a_total", Help: "A.", Labels: []string{"x"}}, 3, "y")
	got := gather(t, metrics.Collector(func() counters.Snapshot { return s }, prometheus.Labels{"job_id": "7"}))
	for name, f := range got {
		if !strings.Contains(f.String(), `value:"7"`) {
			t.Errorf("%s has no label job_id: %v", name, f)
		}
	}
}

// manyRanks are the snapshots of n ranks, which differ in their counts.
func manyRanks(n int) map[int]counters.Snapshot {
	all := map[int]counters.Snapshot{}
	for rank := range n {
		var s counters.Snapshot
		s.Add(counters.Family{Name: "weft_a_total", Help: "A.", Labels: []string{"x"}}, 1, "y")
		s.Add(counters.Family{Name: "weft_b_max", Help: "B.", Gauge: true}, uint64(rank))
		var h counters.Histogram
		h.Add(uint64(rank))
		s.AddHistogram(counters.Family{Name: "weft_c_bytes", Help: "C.", Unit: "bytes"}, &h)
		all[rank] = s
	}
	return all
}

func TestManyRanksAreSummedUp(t *testing.T) {
	for _, n := range []int{1, 2, metrics.MaxRanks, metrics.MaxRanks + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			got := gather(t, metrics.RanksCollector(func() map[int]counters.Snapshot { return manyRanks(n) }, nil))
			if v := got["weft_ranks"].Metric[0].GetGauge().GetValue(); v != float64(n) {
				t.Errorf("%v ranks instead of %d", v, n)
			}
			a, b, c := got["weft_a_total"].Metric, got["weft_b_max"].Metric, got["weft_c_bytes"].Metric
			if n <= metrics.MaxRanks {
				if len(a) != n || a[0].Label[0].GetName() != "rank" {
					t.Errorf("%d series instead of %d, the first is %v", len(a), n, a[0])
				}
				return
			}
			if len(a) != 1 || a[0].GetCounter().GetValue() != float64(n) || len(a[0].Label) != 1 {
				t.Errorf("the counter is %v", a)
			}
			if b[0].GetGauge().GetValue() != float64(n-1) {
				t.Errorf("the high-water mark is %v", b)
			}
			if h := c[0].GetHistogram(); h.GetSampleCount() != uint64(n) || h.GetSampleSum() != float64(n*(n-1)/2) {
				t.Errorf("the histogram is %v", h)
			}
		})
	}
}
