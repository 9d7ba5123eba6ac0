package record_test

import (
	"fmt"

	"github.com/weft-mpi/weft/bench/record"
)

func ExampleRead() {
	doc, err := record.Read([]byte(`{"kind": "run", "benchmark": "latency", "first": "Size",
		"columns": [{"key": "avg_latency_us", "name": "Avg Latency(us)", "better": "lower is better"}],
		"rows": [{"size": 8, "avg_latency_us": 0.16}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if run, ok := doc.(*record.Run); ok {
		fmt.Println(run.Benchmark, run.Rows[0]["avg_latency_us"])
	}
	// Output: latency 0.16
}
