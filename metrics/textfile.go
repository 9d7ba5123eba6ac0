package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-mpi/weft/progress"
)

// WriteFile writes the counters to a file, as text, for the textfile collector of the
// node exporter: path ends in .prom and is in its directory. The file is replaced as a
// whole, by a rename, and is readable for all. With more than one of from, each series
// has a label rank, the place of its rank among them.
func WriteFile(path string, from ...func() progress.Snapshot) error {
	c := RanksCollector(func() map[int]progress.Snapshot {
		all := map[int]progress.Snapshot{}
		for rank, f := range from {
			all[rank] = f()
		}
		return all
	}, nil)
	if len(from) == 1 {
		c = Collector(from[0], nil)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	if err := prometheus.WriteToTextfile(path, reg); err != nil {
		return fmt.Errorf("write metrics to %s: %w", path, err)
	}
	return nil
}
