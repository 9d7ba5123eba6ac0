package main

import "github.com/weft-mpi/weft/mpi"

// grid is ranks in rows and columns, and the cells of the plate that they share.
type grid struct{ rows, columns, height, width int }

// gridOf is the grid of n ranks with as many columns as rows, or as few more as n permits.
// The blocks of a grid of several rows and columns differ in size.
func gridOf(n int) grid {
	rows := 1
	for r := 2; r*r <= n; r++ {
		if n%r == 0 {
			rows = r
		}
	}
	columns := n / rows
	return grid{rows, columns, 5*rows + rows/2, 7*columns + columns/2}
}

// neighbour is the rank so many rows further down and columns further to the right, or
// ProcNull beyond the edge.
func (g grid) neighbour(rank, down, right int) int {
	row, column := rank/g.columns+down, rank%g.columns+right
	if row < 0 || row >= g.rows || column < 0 || column >= g.columns {
		return mpi.ProcNull
	}
	return row*g.columns + column
}

// block is what a rank has of the plate.
type block struct{ top, left, height, width int }

func (g grid) block(rank int) (b block) {
	b.top, b.height = share(g.height, g.rows, rank/g.columns)
	b.left, b.width = share(g.width, g.columns, rank%g.columns)
	return b
}

// share is part i of n cells in parts that differ by one at most.
func share(n, parts, i int) (first, length int) {
	first = i * n / parts
	return first, (i+1)*n/parts - first
}

// plate is the block's cells and those around it, before the first step: cold but for what
// is beyond the edge of the whole plate.
func (b block) plate() []float64 {
	plate := make([]float64, (b.height+2)*(b.width+2))
	for i := range plate {
		if row, column := b.top+i/(b.width+2)-1, b.left+i%(b.width+2)-1; row < 0 || column < 0 {
			plate[i] = float64(1 + max(row, column)%5)
		}
	}
	return plate
}
