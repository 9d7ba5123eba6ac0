package metrics

import (
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-mpi/weft/progress/counters"
)

// emitter makes metrics of counts.
type emitter struct {
	to     chan<- prometheus.Metric
	labels prometheus.Labels
}

func (e emitter) gauge(name, help string, v float64) {
	e.to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, e.labels), prometheus.GaugeValue, v)
}

// snapshot sends the counts of a rank, or of one that is alone.
func (e emitter) snapshot(rank int, s *counters.Snapshot) {
	for i := range s.Families {
		f := &s.Families[i]
		names, extra := f.Labels, []string(nil)
		if rank != alone {
			names, extra = append(names[:len(names):len(names)], "rank"), []string{strconv.Itoa(rank)}
		}
		desc := prometheus.NewDesc(f.Name, f.Help, names, e.labels)
		for _, r := range f.Rows {
			values := append(r.Values[:len(r.Values):len(r.Values)], extra...)
			e.to <- metricOf(desc, f, &r, values)
		}
	}
}

// metricOf is the metric of a row. One whose labels and values do not fit, which a
// snapshot of another build may have, fails its scrape and says so.
func metricOf(desc *prometheus.Desc, f *counters.Family, r *counters.Row, values []string) prometheus.Metric {
	v, kind := float64(r.Value), prometheus.CounterValue
	switch {
	case r.Buckets != nil && len(r.Values) == len(f.Labels):
		return &histogram{desc, f.Unit == "seconds", r, values}
	case f.Unit == "seconds":
		v /= 1e9
	}
	if f.Gauge {
		kind = prometheus.GaugeValue
	}
	m, err := prometheus.NewConstMetric(desc, kind, v, values...)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

// build sends which build this is.
func (e emitter) build() {
	version, revision := buildOf()
	desc := prometheus.NewDesc("weft_build_info", "Which build of Weft this is. Always 1.", []string{"version", "revision", "go_version"}, e.labels)
	e.to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1, version, revision, runtime.Version())
}

const module = "github.com/weft-mpi/weft"

// buildOf is the version of the module, and the revision if it is the program's own.
func buildOf() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version, ""
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return info.Main.Version, revision
}
