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

// The programs of the model between ranks that real transports join. Parts are in
// memory that shm reaches, and the ways of pairs are those that a program has drawn.
func TestProgramsOverRealTransports(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for name, of := range map[string]func(way) fabric.Provider{
		"shm": func(way) fabric.Provider { return shm.Provider{} },
		"tcp": func(way) fabric.Provider { return tcp.Provider{} },
		"shm+tcp": func(w way) fabric.Provider {
			if w == packets {
				return tcp.Provider{}
			}
			return shm.Provider{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for w := range ways {
				if err := of(w).Available(); err != nil {
					t.Fatal(err) // every machine has both
				}
			}
			for seed := *modelFrom; seed < *modelFrom+seeds; seed++ {
				p := drawModel(seed)
				for i := range p.wins {
					p.wins[i].shared = p.wins[i].shared && name == "shm"
				}
				var mem [][]byte
				alloc := func(n int) ([]byte, error) {
					b, err := shm.Alloc(n)
					mem = append(mem, b)
					return b, err
				}
				g, err := newMesh(fmt.Sprintf("windows %d %s %d ", os.Getpid(), name, seed), p.n, p.eager, of, func(a, b int) way { return p.ways[a][b] }, alloc)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(p.play(g), g.close()); err != nil {
					t.Fatalf("seed %d, %v: %v", seed, p, err)
				}
				for _, b := range mem {
					if err := shm.Free(b); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}
