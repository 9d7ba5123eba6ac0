package floor_test

import (
	"fmt"
	"time"

	"github.com/weft-mpi/weft/bench/floor"
)

func ExampleMeasure() {
	f, err := floor.Measure(time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("no message can take less than %.2f us\n", f.Latency(8))
}
