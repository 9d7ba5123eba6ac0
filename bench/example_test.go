package bench_test

import (
	"fmt"
	"strings"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// A benchmark runs on every rank; rank 0 prints.
func ExampleBenchmark_Run() {
	latency, _ := bench.Lookup("latency")
	o := latency.Defaults
	o.MaxSize, o.Iterations, o.Warmup, o.Validate = 4, 10, 1, true
	var out strings.Builder
	err := mpi.Run(2, func(w *mpi.World) error {
		return latency.Run(w.Comm(), o, osufmt.NewWriter(&out), nil)
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := osufmt.Parse([]byte(out.String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range table.Sections[0].Rows {
		fmt.Println(row.Size, "bytes,", row.Values[1], "errors")
	}
	// Output:
	// 1 bytes, 0 errors
	// 2 bytes, 0 errors
	// 4 bytes, 0 errors
}
