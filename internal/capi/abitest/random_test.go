package abitest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The calls of random.c.
const (
	bcast = iota
	reduce
	allreduce
	scan
	exscan
	reduceScatterBlock
	gather
	scatter
	allgather
	alltoall
	gatherv
	ring
	vector
	split
	calls
)

var randomTypes = []struct {
	t           *mpi.Datatype
	kind        byte
	size, parts int
}{
	{mpi.TypeInt8, 'i', 1, 1}, {mpi.TypeUint16, 'i', 2, 1}, {mpi.TypeInt32, 'i', 4, 1}, {mpi.TypeInt64, 'i', 8, 1}, {mpi.TypeFloat32, 'f', 4, 1},
	{mpi.TypeFloat64, 'f', 8, 1}, {mpi.TypeComplex128, 'f', 8, 2}, {mpi.Type2Int, 'i', 4, 2}, {mpi.TypeBool, 'b', 1, 1}, {mpi.TypeByte, 'i', 1, 1},
}

var randomOps = []*mpi.Op{mpi.Sum, mpi.Prod, mpi.Max, mpi.Min, mpi.BAnd, mpi.BOr, mpi.BXor, mpi.LAnd, mpi.LOr, mpi.LXor, mpi.MaxLoc, mpi.MinLoc, mpi.Replace}

type step struct{ call, t, op, count, root, extra, inPlace, seed int }

// randomSteps are calls whose arguments are the same at all ranks, and sometimes wrong.
func randomSteps(r *rand.Rand, n, ranks int) []step {
	all := make([]step, n)
	for i := range all {
		s := step{r.IntN(calls), r.IntN(len(randomTypes)), r.IntN(len(randomOps)), []int{0, 1, 2, 3, 17, 700}[r.IntN(6)], r.IntN(ranks), r.IntN(3), r.IntN(3) / 2, r.IntN(1000)}
		if r.IntN(3) == 0 {
			s.op = 0
		}
		if r.IntN(20) == 0 {
			s.count = -1
		}
		if s.call < gatherv && r.IntN(20) == 0 {
			s.root = ranks
		}
		all[i] = s
	}
	return all
}

func fillRandom(p []byte, t, n, seed int) {
	d := randomTypes[t]
	for i := range n * d.parts {
		small := (seed+3*i)%5 - 2
		v := uint64(small)
		switch {
		case d.kind == 'b':
			v &= 1
		case d.kind == 'f' && d.size == 4:
			v = uint64(math.Float32bits(float32(small)))
		case d.kind == 'f':
			v = math.Float64bits(float64(small))
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], v)
		copy(p[i*d.size:][:d.size], word[:])
	}
}

// randomCalls makes the calls by package mpi, and returns what random.c prints.
func randomCalls(world *mpi.Comm, steps []step) (lines []string, err error) {
	me := world.Rank()
	c, err := world.Dup()
	if err != nil {
		return nil, err
	}
	for i, s := range steps {
		d, rank, size := randomTypes[s.t], c.Rank(), c.Size()
		n, each := max(s.count, 0), d.size*d.parts
		out, in := make([]byte, 1<<18), []byte(strings.Repeat("\xa5", 1<<18))
		fillRandom(out, s.t, n*size, s.seed+7*rank)
		rooted := s.call == reduce || s.call == gather || s.call == scatter
		inPlace := s.inPlace == 1 && s.call != bcast && s.call < gatherv && (!rooted || rank == s.root)
		if (inPlace && s.call != scatter) || s.call == bcast || s.call == vector {
			fillRandom(in, s.t, n*size, s.seed+7*rank)
		}
		of := func(mem []byte, count int) mpi.Buf { return mpi.Memory(d.t, mem, count, 0) }
		blocks := func(mem []byte, all bool) mpi.Buf {
			if all {
				return of(mem, s.count*size)
			}
			return of(mem, s.count)
		}
		send := blocks(out, s.call == scatter || s.call == alltoall || s.call == reduceScatterBlock)
		recv := blocks(in, s.call == gather || s.call == allgather || s.call == alltoall)
		switch {
		case inPlace && s.call == scatter:
			recv = mpi.BufInPlace
		case inPlace:
			if send = mpi.BufInPlace; s.call == reduceScatterBlock {
				recv = blocks(in, true)
			}
		}
		op := randomOps[s.op]
		switch s.call {
		case bcast:
			err = c.Bcast(of(in, s.count), s.root)
		case reduce:
			err = c.Reduce(op, send, recv, s.root)
		case allreduce:
			err = c.Allreduce(op, send, recv)
		case scan:
			err = c.Scan(op, send, recv)
		case exscan:
			err = c.Exscan(op, send, recv)
		case reduceScatterBlock:
			err = c.ReduceScatterBlock(op, send, recv)
		case gather:
			err = c.Gather(send, recv, s.root)
		case scatter:
			err = c.Scatter(send, recv, s.root)
		case allgather:
			err = c.Allgather(send, recv)
		case alltoall:
			err = c.Alltoall(send, recv)
		case gatherv:
			counts, displs, total := make([]int, size), make([]int, size), 0
			for r := range size {
				counts[r], displs[r] = (s.seed+r)%4, total
				total += counts[r] + s.extra
			}
			err = c.Gatherv(of(out, counts[rank]), of(in, len(in)/each), counts, displs, s.root)
		case ring:
			err = c.Barrier()
			var r, sent mpi.Request
			var st mpi.Status
			if err == nil {
				r, err = c.Irecv(of(in, s.count+s.extra-1), (rank+size-1)%size, 3)
			}
			if err != nil {
				break
			}
			if sent, err = c.Isend(of(out, s.count), (rank+1)%size, 3); err != nil {
				_ = r.Cancel()
				_, _ = r.Wait()
				break
			}
			_, _ = sent.Wait()
			st, err = r.Wait()
			lines = append(lines, fmt.Sprintf("%d %d from %d tag %d count %d", me, i, st.Source, st.Tag, st.Count(d.t)))
		case vector:
			var v *mpi.Datatype
			if v, err = mpi.TypeVector(3, 1+s.extra, 3, d.t); err == nil {
				err = v.Commit()
			}
			if err == nil {
				one := 1
				if s.count < 0 {
					one = s.count
				}
				err = c.Bcast(mpi.Memory(v, in, one, 0), s.root)
			}
		case split:
			if err = c.Free(); err == nil {
				c, err = world.Split(me%(1+s.extra), -me)
			}
		}
		h := fnv.New64a()
		h.Write(in[:n*size*each+256])
		lines = append(lines, fmt.Sprintf("%d %d class %d hash %016x", me, i, mpi.ErrorClass(err), h.Sum64()))
	}
	return lines, c.Free()
}

// The same calls through the library and through package mpi have the same results, and
// fail with the same classes.
func TestRandomCallsThroughTheLibraryAndThroughGo(t *testing.T) {
	t.Parallel()
	program := compile(t, "mpicc", "testdata/random.c")
	seeds := uint64(5)
	if !testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		n := 1 + int(seed)%5
		steps := randomSteps(rand.New(rand.NewPCG(seed, 1)), 400, n)
		var script strings.Builder
		for _, s := range steps {
			fmt.Fprintln(&script, s.call, s.t, s.op, s.count, s.root, s.extra, s.inPlace, s.seed)
		}
		file := filepath.Join(t.TempDir(), "calls")
		if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var want []string
		err := mpi.Run(n, func(w *mpi.World) error {
			lines, err := randomCalls(w.Comm(), steps)
			mu.Lock()
			defer mu.Unlock()
			want = append(want, lines...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := job(t, n, nil, nil, program, file)
		got := strings.Split(strings.TrimSpace(out), "\n")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		slices.Sort(want)
		slices.Sort(got)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				var rank, step int
				_, _ = fmt.Sscan(want[i], &rank, &step)
				t.Fatalf("%d ranks, seed %d: C has %q, Go %q: %+v", n, seed, got[i], want[i], steps[step])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d ranks, seed %d: C has %d lines, Go %d", n, seed, len(got), len(want))
		}
	}
}
