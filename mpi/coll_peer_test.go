package mpi_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// peers are the C MPIs that Debian has, and how each starts ranks, also more than there are
// cores. By vector instructions Open MPI 4.1 adds short integers with saturation, not as C
// does. MPICH 4.0 compares unsigned integers of Max and Min as signed ones; by MPI-4.0
// §6.9.2 they are the numbers that they are in C.
var peers = []struct{ compiler, launcher string }{
	{"mpicc.openmpi", "mpirun.openmpi --allow-run-as-root --oversubscribe --mca op ^avx"},
	{"mpicc.mpich", "mpiexec.mpich"},
}

// TestACMPIGivesTheSameResults makes the same calls with every C MPI that is installed as
// here, on the same memory, and compares what comes of it.
func TestACMPIGivesTheSameResults(t *testing.T) {
	tier.Long(t, "ranks of a C MPI that share a core wait for one another")
	found := 0
	for _, p := range peers {
		compiler, err := exec.LookPath(p.compiler)
		if err != nil {
			continue
		}
		found++
		t.Run(p.compiler, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "coll")
			include := filepath.Join("..", "internal", "datatype", "testdata")
			if out, err := exec.Command(compiler, "-O1", "-I", include, "-o", program, filepath.Join("testdata", "coll.c")).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", compiler, err, out)
			}
			for _, n := range []int{2, 4} {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					cases := peerCases(n)
					command := append(strings.Fields(p.launcher), "-n", fmt.Sprint(n), program)
					if p.compiler == "mpicc.mpich" {
						cases = slices.DeleteFunc(cases, (*peerCase).comparesUnsigned)
					}
					comparePeer(t, cases, askPeer(t, command, cases))
				})
			}
		})
	}
	switch {
	case found > 0:
	case os.Getenv("WEFT_CI") != "":
		t.Fatal("neither mpicc.openmpi nor mpicc.mpich is installed, and WEFT_CI says that nothing may be left out: install libopenmpi-dev or libmpich-dev")
	default:
		t.Skip("neither mpicc.openmpi nor mpicc.mpich is installed: install libopenmpi-dev or libmpich-dev")
	}
}

// askPeer returns what each rank of a C MPI has in memory after each case, in hexadecimal
// digits, or why a call has failed.
func askPeer(t *testing.T, command []string, cases []*peerCase) [][]string {
	var text strings.Builder
	for _, p := range cases {
		text.WriteString(p.String())
	}
	in, out := filepath.Join(t.TempDir(), "cases"), filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(in, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if said, err := exec.CommandContext(ctx, command[0], append(command[1:], in, out)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, said)
	}
	results := make([][]string, len(cases[0].sides))
	for rank := range results {
		lines, err := os.ReadFile(fmt.Sprint(out, ".", rank))
		if err != nil {
			t.Fatal(err)
		}
		if results[rank] = strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n"); len(results[rank]) != len(cases) {
			t.Fatalf("rank %d has %d results of %d cases", rank, len(results[rank]), len(cases))
		}
	}
	return results
}

// comparePeer makes the calls here.
func comparePeer(t *testing.T, cases []*peerCase, results [][]string) {
	act(t, "mem", len(results), func(w *mpi.World, c *mpi.Comm) {
		for i, p := range cases {
			ours := slices.Clone(p.sides[c.Rank()][1].mem)
			ok(p.make(c, ours))
			text, isMemory := strings.CutPrefix(results[c.Rank()][i], " x")
			theirs, err := hex.DecodeString(text)
			if !isMemory || err != nil {
				t.Errorf("case %d, rank %d: %s\n%v", i, c.Rank(), results[c.Rank()][i], p)
			} else if a, b := p.defined(c, ours), p.defined(c, theirs); !slices.Equal(a, b) {
				t.Errorf("case %d, rank %d: ours is\n%x, theirs\n%x, of\n%v", i, c.Rank(), a, b, p)
			}
		}
	})
}

// peerCase is a call that all ranks make. Its sides are what a rank sends and where it
// receives.
type peerCase struct {
	call    string
	op      *mpi.Op // or nil
	root    int
	inPlace bool
	sides   [][2]*peerSide
}

// peerSide is count elements of a type in memory, with blocks for the ranks, or of alltoallw
// blocks of several types, whose displs are in bytes.
type peerSide struct {
	types          []*mpi.Datatype
	origin, count  int
	counts, displs []int
	mem            []byte
}

// String is the case for testdata/coll.c.
func (p *peerCase) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "case %s %v %d %d", p.call, p.op, p.root, map[bool]int{true: 1}[p.inPlace])
	for _, sides := range p.sides {
		for _, s := range sides {
			fmt.Fprintf(&b, "\n %d %d %s %s %d", s.origin, s.count, listed(s.counts), listed(s.displs), len(s.types))
			for _, t := range s.types {
				b.WriteString(typeText(t))
			}
			fmt.Fprintf(&b, " x%x", s.mem)
		}
	}
	return b.String() + "\n"
}

func listed(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }

// typeText is a type for internal/datatype/testdata/types.h: its tree of constructors.
func typeText(t *mpi.Datatype) string {
	c, ints, addrs, types := t.Contents()
	if c == mpi.CombinerNamed {
		i := slices.IndexFunc(peerKinds, func(k peerKind) bool { return k.t == t })
		return " " + peerKinds[i].name
	}
	text := fmt.Sprintf(" %v %s", c, listed(append(ints, addrs...)))
	for _, part := range types {
		text += typeText(part)
	}
	return text
}

// comparesUnsigned reports whether the case has Max or Min of unsigned integers.
func (p *peerCase) comparesUnsigned() bool {
	unsigned := []*mpi.Datatype{mpi.TypeUint8, mpi.TypeUint16, mpi.TypeUint32, mpi.TypeUint64}
	return (p.op == mpi.Max || p.op == mpi.Min) && slices.Contains(unsigned, p.sides[0][0].types[0])
}

func (s *peerSide) buf(mem []byte) mpi.Buf {
	return mpi.As(s.types[0], mem, s.count).At(s.origin)
}

// bufs are the blocks of alltoallw.
func (s *peerSide) bufs(mem []byte) (all []mpi.Buf) {
	for i, t := range s.types {
		all = append(all, mpi.As(t, mem, s.counts[i]).At(s.origin+s.displs[i]))
	}
	return all
}

// make makes the call here, with mem for the memory where it receives.
func (p *peerCase) make(c *mpi.Comm, mem []byte) error {
	s, r := p.sides[c.Rank()][0], p.sides[c.Rank()][1]
	send, sends, recv := s.buf(s.mem), s.bufs(s.mem), r.buf(mem)
	out, atRoot, roomAtRoot := send, send, recv
	if p.inPlace {
		send, sends = mpi.BufInPlace, []mpi.Buf{mpi.BufInPlace}
		if c.Rank() == p.root {
			atRoot, roomAtRoot = mpi.BufInPlace, mpi.BufInPlace
		}
	}
	next := (c.Rank() + 1) % c.Size()
	from, to, acc := p.sides[next][0], p.sides[next][1], p.sides[p.root][1]
	calls := map[string]func() error{
		"bcast":                func() error { return c.Bcast(recv, p.root) },
		"gather":               func() error { return c.Gather(atRoot, recv, p.root) },
		"gatherv":              func() error { return c.Gatherv(atRoot, recv, r.counts, r.displs, p.root) },
		"scatter":              func() error { return c.Scatter(out, roomAtRoot, p.root) },
		"scatterv":             func() error { return c.Scatterv(out, roomAtRoot, s.counts, s.displs, p.root) },
		"allgather":            func() error { return c.Allgather(send, recv) },
		"allgatherv":           func() error { return c.Allgatherv(send, recv, r.counts, r.displs) },
		"alltoall":             func() error { return c.Alltoall(send, recv) },
		"alltoallv":            func() error { return c.Alltoallv(send, s.counts, s.displs, recv, r.counts, r.displs) },
		"alltoallw":            func() error { return c.Alltoallw(sends, r.bufs(mem)) },
		"reduce":               func() error { return c.Reduce(p.op, atRoot, recv, p.root) },
		"allreduce":            func() error { return c.Allreduce(p.op, send, recv) },
		"reduce_scatter_block": func() error { return c.ReduceScatterBlock(p.op, send, recv) },
		"reduce_scatter":       func() error { return c.ReduceScatter(p.op, send, recv, s.counts) },
		"scan":                 func() error { return c.Scan(p.op, send, recv) },
		"exscan":               func() error { return c.Exscan(p.op, send, recv) },
		"put": func() error {
			return fenced(c, mem, func(w *mpi.Win) error { return w.Put(out, next, to.origin, to.count, to.types[0]) })
		},
		"get": func() error {
			return fenced(c, s.mem, func(w *mpi.Win) error { return w.Get(recv, next, from.origin, from.count, from.types[0]) })
		},
		"accumulate": func() error {
			return fenced(c, mem, func(w *mpi.Win) error { return w.Accumulate(p.op, out, p.root, acc.origin, acc.count, acc.types[0]) })
		},
	}
	return calls[p.call]()
}

// fenced calls f between two fences of a window of mem.
func fenced(c *mpi.Comm, mem []byte, f func(w *mpi.Win) error) error {
	w, err := mpi.WinCreate(c, mem, mpi.WinOptions{})
	if err != nil {
		return err
	}
	return errors.Join(w.Fence(), f(w.Win), w.Fence(), w.Free())
}

// defined is what MPI says of the memory where the call has received: of a reduction not the
// padding of pairs, of an Exscan nothing at rank 0, and of a reduction in place of blocks
// nothing behind the first one.
func (p *peerCase) defined(c *mpi.Comm, mem []byte) []byte {
	s, r := p.sides[c.Rank()][0], p.sides[c.Rank()][1]
	n := r.count
	switch p.call {
	case "reduce", "allreduce", "scan":
	case "reduce_scatter_block", "reduce_scatter":
		n = s.counts[c.Rank()]
	case "exscan":
		n = min(n, c.Rank()*n)
	default:
		return mem
	}
	out := make([]byte, n*r.types[0].Size())
	get(mpi.Pack(mpi.As(r.types[0], mem, n).At(r.origin), out, 0))
	return out
}
