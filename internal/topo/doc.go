// Package topo is virtual topologies: grids, graphs, and the order of processes that
// makes the neighbours in them near (MPI-4.0 chapter 8).
//
// A Grid and a Graph are values that answer what MPI asks of a Cartesian and of a general
// topology; Dims chooses the sizes of a grid. Check says whether the values of a user make
// one. The other methods take it for granted, and ranks and dimensions that are there.
//
// Reorder takes the edges of any topology, and says which process gets which rank. It reads
// where the processes are from Places, and returns the same at every process that gives it
// the same.
//
// It is pure and imports nothing of Weft.
package topo
