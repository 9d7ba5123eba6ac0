package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-mpi/weft/internal/atomicfile"
	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/progress/counters"
)

// WriteFile writes the counters to a file, as text, for the textfile collector of the
// node exporter: path ends in .prom and is in its directory. The file is replaced as a
// whole, by a rename, and is readable for all; a path that is no regular file is an error. With more than one of from, each series
// has a label rank, the place of its rank among them.
func WriteFile(path string, from ...func() counters.Snapshot) error {
	if len(from) == 1 {
		return writeFile(path, Collector(from[0], nil))
	}
	return WriteRanksFile(path, func() map[int]counters.Snapshot {
		all := map[int]counters.Snapshot{}
		for rank, f := range from {
			all[rank] = f()
		}
		return all
	})
}

// WriteRanksFile is WriteFile for ranks by their number in the job, see RanksCollector.
func WriteRanksFile(path string, from func() map[int]counters.Snapshot) error {
	return writeFile(path, RanksCollector(from, nil))
}

func writeFile(path string, c prometheus.Collector) error {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	err := atomicfile.Check(path)
	if err == nil {
		err = prometheus.WriteToTextfile(path, reg)
	}
	if err != nil {
		return fmt.Errorf("write metrics to %s: %w", path, limits.Named(err))
	}
	return nil
}
