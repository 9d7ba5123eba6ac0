package rma

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/tcp"
)

// transports are those that ranks of one process may use.
var transports = map[string]func(n int) func(way) fabric.Provider{
	"mem": memNetworks,
	"shm": func(int) func(way) fabric.Provider { return func(way) fabric.Provider { return shm.Provider{} } },
	"tcp": func(int) func(way) fabric.Provider { return func(way) fabric.Provider { return tcp.Provider{} } },
}

// Random checkedPrograms without conflicts leave what MPI allows in windows with separate
// memory too, and nothing is reported.
func TestCorrectProgramsRunWithSeparateMemory(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for name, of := range transports {
		t.Run(name, func(t *testing.T) {
			seeds := seeds
			if name != "mem" {
				seeds = min(seeds, 8)
			}
			for seed := *modelFrom; seed < *modelFrom+seeds; seed++ {
				p := drawProgram(seed, true)
				g, err := newMesh(fmt.Sprintf("separate %d %s %d ", os.Getpid(), name, seed), p.n, p.eager, of(p.n), func(a, b int) way { return p.ways[a][b] }, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(p.play(g), g.close()); err != nil {
					t.Fatalf("seed %d, %v: %v", seed, p, err)
				}
			}
		})
	}
}
