package transports_test

import (
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/internal/transports"
)

// Ranks of one process meet without a launcher.
func ExampleGoroutines() {
	all, err := transports.Goroutines(2, transports.Auto, transports.Settings{Log: slog.Default()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for rank, r := range all {
		fmt.Printf("rank %d: %s, %d addresses\n", rank, r.Fabric, len(r.Addrs))
		r.Domains[0].Close()
	}
	// Output:
	// rank 0: mem, 2 addresses
	// rank 1: mem, 2 addresses
}

func ExampleCheck() {
	fmt.Println(transports.Check("shm+tcp"))
	fmt.Println(transports.Check("verbs+shm"))
	// Output:
	// <nil>
	// unknown fabric "verbs+shm": use one of auto, mem, shm, verbs, tcp, shm+verbs, shm+tcp, shm+verbs+tcp, verbs+tcp
}
