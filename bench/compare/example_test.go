package compare_test

import (
	"context"
	"fmt"
	"os"

	"github.com/weft-mpi/weft/bench/compare"
)

func ExampleRun() {
	r, err := compare.Run(context.Background(), compare.Config{
		Benchmark: "latency",
		Ranks:     2,
		Ours:      compare.Side{Name: "osu-go", Argv: []string{"osu-go", "latency", "-m", "8"}},
		Theirs:    compare.Side{Name: "mpich", Argv: []string{"mpiexec", "-n", "2", "osu_latency", "-m", "8"}},
		Rounds:    7,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
}
