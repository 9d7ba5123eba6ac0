package main

import (
	"bytes"
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// stride is the cells in a row of a block, and those on both sides of it.
const stride = width + 2

// inner is where a cell of a block is, among those around.
func inner(cell int) int { return (cell/width+1)*stride + cell%width + 1 }

// grid is ranks in rows and columns, whose ends meet.
type grid struct{ rows, columns int }

// gridOf is the grid of n ranks with as many columns as rows, or as few more as n permits.
func gridOf(n int) grid {
	rows := n
	for rows*rows > n || n%rows != 0 {
		rows--
	}
	return grid{rows, n / rows}
}

// first is the first generation of a rank's block.
func (g grid) first(rank int) []byte {
	block := bytes.Repeat([]byte{dead}, (height+2)*stride)
	for cell := range height * width {
		if x := uint64(rank*height*width+cell+1) * 0x9e3779b97f4a7c15; x>>62 == 0 {
			block[inner(cell)] = alive
		}
	}
	return block
}

// directions are those of the neighbours: down and to the right. The pieces for one rank are
// sent in their order.
var directions = [][2]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}

// pieces are, for each rank, the edges and corners of a rank's block that go there. With an
// away of 1 they are the cells around it that come from there, in the order in which they
// are sent: what is sent in a direction comes from the opposite one.
func (g grid) pieces(rank, away int, block []byte) ([]mpi.Buf, error) {
	types, bufs := make([][]*mpi.Datatype, g.rows*g.columns), make([]mpi.Buf, g.rows*g.columns)
	for _, d := range directions {
		down, right := d[0]-2*away*d[0], d[1]-2*away*d[1]
		size := []int{[]int{1, height, 1}[down+1], []int{1, width, 1}[right+1]}
		start := []int{[]int{1, 1, height}[down+1] + away*down, []int{1, 1, width}[right+1] + away*right}
		t, err := mpi.TypeSubarray([]int{height + 2, stride}, size, start, mpi.OrderC, mpi.TypeByte)
		if err != nil {
			return nil, err
		}
		there := (rank/g.columns+down+g.rows)%g.rows*g.columns + (rank+right+g.columns)%g.columns
		types[there] = append(types[there], t)
	}
	for there, pieces := range types {
		t, err := mpi.TypeStruct(slices.Repeat([]int{1}, len(pieces)), make([]int, len(pieces)), pieces)
		if err == nil {
			err = t.Commit()
		}
		if err != nil {
			return nil, err
		}
		bufs[there] = mpi.As(t, block, 1)
	}
	return bufs, nil
}
