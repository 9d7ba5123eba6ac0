package topo

// Reorder returns for each process its new rank, of 0 to len(places)-1.
func Reorder(places []Place, edges []Edge, grid *Grid) []int {
	return identity(len(places))
}
