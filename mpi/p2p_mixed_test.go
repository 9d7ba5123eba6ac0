package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

func init() {
	roles["mixed"] = func(c *mpi.Comm) error {
		if err := playAllSizes(c); err != nil {
			return err
		}
		if err := playWildcards(c); err != nil {
			return err
		}
		var over []string
		for p := range c.Size() {
			if p != c.Rank() {
				over = append(over, mpi.TransportOf(c, p))
			}
		}
		fmt.Printf("rank %d reaches the others over %v\n", c.Rank(), over)
		return nil
	}
}

// playWildcards receives from everybody, whatever joins them, in each one's
// order.
func playWildcards(c *mpi.Comm) error {
	const rounds = 200
	sizes := []int{0, 8, 1000, 9000, 70_000}
	var rs []mpi.Request
	for i := range rounds {
		for p := range c.Size() {
			if p == c.Rank() {
				continue
			}
			r, err := mpi.Isend(c, pattern(sizes[i%len(sizes)], c.Rank()+i), p, 7)
			if err != nil {
				return err
			}
			rs = append(rs, r)
		}
	}
	next := make([]int, c.Size())
	in := make([]byte, sizes[len(sizes)-1])
	for range rounds * (c.Size() - 1) {
		st, err := mpi.Recv(c, in, mpi.AnySource, 7)
		if err != nil {
			return err
		}
		i := next[st.Source]
		next[st.Source]++
		if int(st.Bytes) != sizes[i%len(sizes)] || differs(in[:st.Bytes], st.Source+i) >= 0 {
			return fmt.Errorf("message %d of rank %d has %d bytes, or others", i, st.Source, st.Bytes)
		}
	}
	if err := mpi.Waitall(rs, nil); err != nil {
		return err
	}
	return c.Barrier()
}

// Four ranks on two machines, as far as they are told: shared memory joins each
// pair, a transport over the network the pairs. Without a name it is the first that
// this machine has.
func TestSharedMemoryAndTheNetworkTogether(t *testing.T) {
	for _, fabric := range []string{"auto", "tcp", "shm+tcp", "verbs+tcp", "shm+verbs", "shm+verbs+tcp"} {
		t.Run(fabric, func(t *testing.T) {
			need(t, fabric)
			t.Setenv("WEFT_FABRIC", fabric)
			t.Setenv("WEFT_TEST_NODES", "2")
			out, err := runRanks(t, 4, "mixed")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			near, far := "shm", "verbs"
			if fabric == "auto" && mpi.FabricAvailable("verbs") != nil || fabric == "tcp" || fabric == "shm+tcp" {
				far = "tcp"
			}
			if fabric != "auto" && !strings.HasPrefix(fabric, "shm+") {
				near = far
			}
			for rank := range 4 {
				var want []string
				for other := range 4 {
					switch {
					case other == rank:
					case other/2 == rank/2:
						want = append(want, near)
					default:
						want = append(want, far)
					}
				}
				if line := fmt.Sprintf("rank %d reaches the others over %v\n", rank, want); !strings.Contains(out, line) {
					t.Errorf("nothing says %q:\n%s", line, out)
				}
			}
		})
	}
}

// Ranks of one machine whose nodes have other names are not joined by shared
// memory alone, and are told what to do.
func TestSharedMemoryDoesNotJoinNodes(t *testing.T) {
	t.Setenv("WEFT_FABRIC", "shm")
	out, err := program(t, "run: ring", 4, 4, func(l *launch.Launch) {
		l.Path, l.Args = "sh", []string{"-c", `WEFT_NODE=node$((WEFT_RANK / 2)) exec "$0"`, os.Args[0]}
	})
	if err == nil {
		t.Fatalf("the ranks have met:\n%s", out)
	}
	for _, want := range []string{"(WEFT_NODE) and this rank on \"node", "of shm none joins nodes; choose a fabric that reaches the network, such as shm+tcp, or leave WEFT_NODE alone"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

// divide puts this rank on one of WEFT_TEST_NODES machines.
func divide() {
	if os.Getenv("WEFT_TEST_NODES") != "" {
		os.Setenv("WEFT_NODE", fmt.Sprint("node", int(os.Getenv("WEFT_RANK")[0]-'0')/2))
	}
}
