package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/mpi"
)

// Each rank serves its counters as long as it runs.
func ExampleServe() {
	err := mpi.Run(2, func(w *mpi.World) error {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		addr, err := metrics.Serve(ctx, "127.0.0.1:0", w.Snapshot)
		if err != nil {
			return err
		}
		sum := make([]int, 1)
		if err := mpi.Allreduce(w.Comm(), mpi.Sum, []int{1}, sum); err != nil || w.Comm().Rank() != 0 {
			return err
		}
		page, err := http.Get("http://" + addr.String() + "/metrics") // as Prometheus does
		if err != nil {
			return err
		}
		defer page.Body.Close()
		text, err := io.ReadAll(page.Body)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "weft_coll_calls_total") {
				fmt.Print(line)
			}
		}
		return err
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output: weft_coll_calls_total{algorithm="recursive-doubling",op="Allreduce"} 1
}
