// Command cg solves Poisson's equation, -Δu = f on the unit square with u = 0 at its edge,
// by the method of conjugate gradients. The unknowns, u at the points of a mesh, are cut into
// blocks, one for each rank of a grid of ranks (CartCreate). A step has two persistent calls:
// neighbours exchange the edges of their blocks (NeighborAlltoallwInit), and two scalar
// products are added up over all ranks (AllreduceInit), both at once as by Chronopoulos and
// Gear (1989). Rank 0 prints the steps, the residual and the error. Another number of ranks
// adds in another order, so results differ by rounding only. With a launcher the ranks are
// processes, without one they are goroutines: as many as the argument says, or one for each
// core.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	n := flag.Int("n", 100, "unknowns in each of the two directions")
	flag.Parse()
	ranks := 0
	if flag.NArg() > 0 {
		r, err := strconv.Atoi(flag.Arg(0))
		if err != nil || r < 1 {
			log.Fatalf("the argument is the number of ranks, not %q", flag.Arg(0))
		}
		ranks = r
	}
	if err := mpi.Run(ranks, func(w *mpi.World) error { return solve(w.Comm(), *n, 10**n, os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

// tolerance is the residual at which it stops, as a part of that before the first step.
const tolerance = 1e-8

// solution is a polynomial of third degree. For those the differences between points are
// exact, so the unknowns differ from it by what the residual leaves, and by rounding.
// source is the right-hand side that belongs to it.
func solution(x, y float64) float64 { return x * (1 - x*x) * y * (1 - y) }
func source(x, y float64) float64   { return 6*x*y*(1-y) + 2*x*(1-x*x) }

// share is part i of n points in parts that differ by one at most.
func share(n, parts, i int) (first, length int) {
	first = i * n / parts
	return first, (i+1)*n/parts - first
}

// solve runs one rank, for n x n unknowns, in so many steps at most. Rank 0 of the grid
// prints to out.
func solve(world *mpi.Comm, n, most int, out io.Writer) error {
	dims, err := mpi.DimsCreate(world.Size(), 0, 0)
	if err != nil {
		return err
	}
	if n < dims[0] { // dims[1] is not more
		return fmt.Errorf("%d x %d unknowns are too few for %d x %d ranks", n, n, dims[0], dims[1])
	}
	c, err := world.CartCreate(mpi.CartOptions{Dims: dims, Reorder: true})
	if err != nil {
		return err
	}
	coords, err := c.CartCoords(c.Rank())
	if err != nil {
		return err
	}
	b := block{h: 1 / float64(n+1)}
	b.top, b.height = share(n, dims[0], coords[0])
	b.left, b.width = share(n, dims[1], coords[1])
	unknowns, residuals := b.vector(), b.vector()
	b.each(func(i int, x, y float64) { residuals[i] = b.h * b.h * source(x, y) })
	steps, residual, err := b.iterate(c, unknowns, residuals, most)
	if err != nil {
		return err
	}
	here, worst := []float64{0}, []float64{0}
	b.each(func(i int, x, y float64) { here[0] = max(here[0], math.Abs(unknowns[i]-solution(x, y))) })
	err = mpi.Reduce(c, mpi.Max, here, worst, 0)
	if err == nil && c.Rank() == 0 {
		_, err = fmt.Fprintf(out, "%d x %d ranks solved %d x %d unknowns in %d steps: residual %.3e, error %.3e\n", dims[0], dims[1], n, n, steps, residual, worst[0])
	}
	return errors.Join(err, c.Free())
}

// iterate makes steps until the residuals r of the unknowns u are small enough. All ranks
// get the same sums, so they stop at the same step.
func (b block) iterate(c *mpi.Comm, u, r []float64, most int) (steps int, residual float64, err error) {
	d, ar, ad := b.vector(), b.vector(), b.vector() // the direction, and the matrix times r and d
	sums := make([]float64, 2)
	halo, err := b.halo(c, r)
	sum, err2 := mpi.AllreduceInit(c, mpi.Sum, mpi.InPlace[float64](), sums)
	if err := errors.Join(err, err2); err != nil {
		return 0, 0, err
	}
	first, last, alpha := 0., math.Inf(1), 1.
	for ; ; steps++ {
		if err := run(&halo); err != nil {
			return 0, 0, err
		}
		sums[0], sums[1] = b.multiply(r, ar)
		if err := run(&sum); err != nil {
			return 0, 0, err
		}
		rr, rar := sums[0], sums[1]
		if steps == 0 {
			first = rr
		}
		if residual = math.Sqrt(rr / first); residual <= tolerance {
			return steps, residual, errors.Join(halo.Free(), sum.Free())
		}
		if steps >= most {
			return 0, 0, fmt.Errorf("after %d steps the residual is still %.3e", steps, residual)
		}
		beta := rr / last // 0 in the first step
		alpha = rr / (rar - beta*rr/alpha)
		for i := range u { // what this does around the block is not used
			d[i], ad[i] = r[i]+beta*d[i], ar[i]+beta*ad[i]
			u[i], r[i] = u[i]+alpha*d[i], r[i]-alpha*ad[i]
		}
		last = rr
	}
}

// run makes a persistent call once.
func run(r *mpi.Request) error {
	err := r.Start()
	if err == nil {
		_, err = r.Wait()
	}
	return err
}

// block is what a rank has of the mesh, whose points are h apart. Its vectors are the
// block's points and those around it.
type block struct {
	top, left, height, width int
	h                        float64
}

func (b block) vector() []float64 { return make([]float64, (b.height+2)*(b.width+2)) }

// each calls f for each point of the block: its index in a vector, and where it is.
func (b block) each(f func(i int, x, y float64)) {
	for row := 1; row <= b.height; row++ {
		for column := 1; column <= b.width; column++ {
			f(row*(b.width+2)+column, b.h*float64(b.left+column), b.h*float64(b.top+row))
		}
	}
}

// halo sends the edges of a vector's block to the neighbours and receives theirs around it,
// each time that it is started: up, down, to the left and to the right. Around the mesh
// vectors stay 0.
func (b block) halo(c *mpi.Comm, vector []float64) (mpi.Request, error) {
	part := func(rows, columns, top, left int) mpi.Buf {
		return mpi.Subarray(vector, []int{b.height + 2, b.width + 2}, []int{rows, columns}, []int{top, left})
	}
	row := func(top int) mpi.Buf { return part(1, b.width, top, 1) }
	column := func(left int) mpi.Buf { return part(b.height, 1, 1, left) }
	edges := []mpi.Buf{row(1), row(b.height), column(1), column(b.width)}
	around := []mpi.Buf{row(0), row(b.height + 1), column(0), column(b.width + 1)}
	return c.NeighborAlltoallwInit(edges, around)
}

// multiply makes ar the matrix times r, and returns the block's part of the scalar products
// of r with itself and with ar.
func (b block) multiply(r, ar []float64) (rr, rar float64) {
	b.each(func(i int, _, _ float64) {
		ar[i] = 4*r[i] - r[i-b.width-2] - r[i-1] - r[i+1] - r[i+b.width+2]
		rr, rar = rr+r[i]*r[i], rar+r[i]*ar[i]
	})
	return rr, rar
}
