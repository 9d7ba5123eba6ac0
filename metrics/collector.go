package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-mpi/weft/progress/counters"
)

// Collector returns a collector of the counters of one rank, that from copies:
// mpi.World.Snapshot, say. labels, which may be nil, are added to each series, and
// belong to the collector from then on. It is safe for concurrent use.
func Collector(from func() counters.Snapshot, labels prometheus.Labels) prometheus.Collector {
	return &collector{labels: labels, source: source{from: func() map[int]counters.Snapshot {
		return map[int]counters.Snapshot{alone: from()}
	}}}
}

// RanksCollector is Collector for several ranks, which from returns by their number
// in the job. Each series has a label rank. Beyond MaxRanks ranks it has none, and is
// a sum over the ranks, or for a high-water mark the greatest. A rank that from does
// not return any more has no series.
func RanksCollector(from func() map[int]counters.Snapshot, labels prometheus.Labels) prometheus.Collector {
	return &collector{labels: labels, ranks: true, source: source{from: from}}
}

// MaxRanks is the most values of the label rank.
const MaxRanks = 256

// alone is the key of a snapshot of one rank, which has no label.
const alone = -1

type collector struct {
	source
	labels prometheus.Labels
	ranks  bool
}

// Describe sends nothing: which series there are depends on what the ranks do.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect makes prometheus.Collector complete.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	all, age := c.take()
	e := emitter{to, c.labels}
	e.build()
	e.gauge("weft_snapshot_age_seconds", "How old the counters are: more than a moment where the engine is busy, or the rank has ended.", age.Seconds())
	if c.ranks {
		e.gauge("weft_ranks", "Ranks whose counters are here.", float64(len(all)))
	}
	if len(all) > MaxRanks {
		all = map[int]counters.Snapshot{alone: sum(all)}
	}
	for rank, s := range all {
		e.snapshot(rank, &s)
	}
}
