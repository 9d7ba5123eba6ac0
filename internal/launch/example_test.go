package launch_test

import (
	"context"
	"fmt"
	"os"

	"github.com/weft-mpi/weft/internal/launch"
)

// A process without a launcher is a world of one.
func ExampleDiscover() {
	ctx := context.Background()
	job, err := launch.Discover(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer job.Close()
	all, err := job.Exchange(ctx, []byte("my address"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d of %d knows %q\n", job.Rank, job.Size, all)
	// Output: rank 0 of 1 knows ["my address"]
}

func ExampleLaunch_Run() {
	l := launch.Launch{N: 2, Path: "sh", Args: []string{"-c", "echo rank $WEFT_RANK of $WEFT_SIZE; exit $WEFT_RANK"}, Stderr: os.Stderr}
	fmt.Println(l.Run(context.Background()))
	// Output: launch: rank 1 exited with code 1
}
