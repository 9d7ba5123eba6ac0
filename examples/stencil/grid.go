package main

// grid is ranks in columns and rows, and the cells of the plate that they share.
type grid struct{ columns, rows, width, height int }

// gridOf is the grid of ranks in these dimensions. DimsCreate lets them not rise, so a grid
// has at least as many columns as rows. Its blocks, if it has several of both, differ in size.
func gridOf(dims []int) grid {
	columns, rows := dims[0], dims[1]
	return grid{columns, rows, 7*columns + columns/2, 5*rows + rows/2}
}

// block is what the rank at some coordinates has of the plate.
type block struct{ top, left, height, width int }

func (g grid) block(coords []int) (b block) {
	b.left, b.width = share(g.width, g.columns, coords[0])
	b.top, b.height = share(g.height, g.rows, coords[1])
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
