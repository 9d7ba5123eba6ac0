/* Graphs, and distributed graphs: a ring in which rank 0 has a neighbor more.
 * ranks: 1 2 5 */
#include "check.h"

/* GCC warns of accesses to an address that it knows. */
static int *volatile unweighted = MPI_UNWEIGHTED, *volatile empty = MPI_WEIGHTS_EMPTY;

/* Every rank has its neighbors on both sides, and itself. */
static void ring(void)
{
	int index[16], edges[48], got[48], nodes = -1, n = -1, r, topo = -1, rank = -1;
	MPI_Comm c;
	for (r = 0; r < check_size; r++) {
		index[r] = 3 * r + 3;
		edges[3 * r] = (r + 1) % check_size;
		edges[3 * r + 1] = r;
		edges[3 * r + 2] = (r + check_size - 1) % check_size;
	}
	OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &c));
	OK(MPI_Topo_test(c, &topo));
	CHECK(topo == MPI_GRAPH);
	OK(MPI_Graphdims_get(c, &nodes, &n));
	CHECK(nodes == check_size && n == 3 * check_size);
	for (r = 0; r < check_size; r++) {
		OK(MPI_Graph_neighbors_count(c, r, &n));
		CHECK(n == 3);
		OK(MPI_Graph_neighbors(c, r, 3, got));
		CHECK(!memcmp(got, edges + 3 * r, 3 * sizeof *got));
	}
	OK(MPI_Graph_get(c, check_size, 3 * check_size, got, got + 16));
	CHECK(!memcmp(got, index, (size_t)check_size * sizeof *got));
	OK(MPI_Graph_get(c, check_size, 3 * check_size, index, got));
	CHECK(!memcmp(got, edges, 3 * (size_t)check_size * sizeof *got));
	CHECK_CLASS(MPI_Graph_neighbors_count(c, check_size, &n), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Cartdim_get(c, &n), MPI_ERR_TOPOLOGY);
	OK(MPI_Comm_free(&c));

	OK(MPI_Graph_map(MPI_COMM_WORLD, check_size, index, edges, &rank));
	CHECK(rank >= 0 && rank < check_size);
	index[0] = 1; /* a graph of one node, its own neighbor */
	edges[0] = 0;
	OK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &c));
	CHECK((c == MPI_COMM_NULL) == (check_rank > 0));
	if (check_rank == 0)
		OK(MPI_Comm_free(&c));
	OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &c));
	CHECK(c == MPI_COMM_NULL);
}

/* neighbors checks the edges of a rank: from the rank before, and to the one behind; rank 0
 * gets one from the last rank twice. */
static void neighbors(MPI_Comm c, int weighted)
{
	int before = (check_rank + check_size - 1) % check_size, behind = (check_rank + 1) % check_size;
	int in = -1, out = -1, w = -1, topo = -1, i;
	int sources[3] = {-9, -9, -9}, dests[3] = {-9, -9, -9}, sw[3] = {-9, -9, -9}, dw[3] = {-9, -9, -9};
	OK(MPI_Topo_test(c, &topo));
	CHECK(topo == MPI_DIST_GRAPH);
	OK(MPI_Dist_graph_neighbors_count(c, &in, &out, &w));
	CHECK(in == (check_rank == 0 ? 2 : 1) && out == (behind == 0 ? 2 : 1) && !w == !weighted);
	if (weighted)
		OK(MPI_Dist_graph_neighbors(c, in, sources, sw, out, dests, dw));
	else
		OK(MPI_Dist_graph_neighbors(c, in, sources, unweighted, out, dests, unweighted));
	for (i = 0; i < in; i++)
		CHECK(sources[i] == before && sw[i] == (weighted ? 10 * before + i : -9));
	for (i = 0; i < out; i++)
		CHECK(dests[i] == behind && dw[i] == (weighted ? 10 * check_rank + i : -9));
	CHECK(sources[in] == -9 && dests[out] == -9);
	if (!weft())
		return;
	sources[0] = dests[0] = -9; /* as much as there is room for */
	OK(MPI_Dist_graph_neighbors(c, 1, sources, sw, 0, dests, dw));
	CHECK(sources[0] == before && dests[0] == -9);
}

static void distributed(void)
{
	int before = (check_rank + check_size - 1) % check_size, behind = (check_rank + 1) % check_size;
	int in = check_rank == 0 ? 2 : 1, out = behind == 0 ? 2 : 1, r, n = 0;
	int sources[2] = {before, before}, dests[2] = {behind, behind};
	int sw[2] = {10 * before, 10 * before + 1}, dw[2] = {10 * check_rank, 10 * check_rank + 1};
	int from[16], degrees[16], to[32], weights[32];
	MPI_Comm c, dup;
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, unweighted, out, dests, unweighted, MPI_INFO_NULL, 0, &c));
	neighbors(c, 0);
	OK(MPI_Comm_dup(c, &dup));
	OK(MPI_Comm_free(&c));
	neighbors(dup, 0);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, sw, out, dests, dw, MPI_INFO_NULL, 0, &c));
	neighbors(c, 1);
	OK(MPI_Comm_free(&c));

	/* Rank 0 says all, the others nothing. */
	for (r = 0; r < check_size; r++) {
		from[r] = r;
		degrees[r] = r == check_size - 1 ? 2 : 1;
		for (int i = 0; i < degrees[r]; i++) {
			to[n] = (r + 1) % check_size;
			weights[n++] = 10 * r + i;
		}
	}
	r = check_rank ? 0 : check_size;
	OK(MPI_Dist_graph_create(MPI_COMM_WORLD, r, from, degrees, to, r ? weights : empty, MPI_INFO_NULL, 0, &c));
	neighbors(c, 1);
	OK(MPI_Comm_free(&c));
	OK(MPI_Dist_graph_create(MPI_COMM_WORLD, r, from, degrees, to, unweighted, MPI_INFO_NULL, 0, &c));
	neighbors(c, 0);
	OK(MPI_Comm_free(&c));

	/* No edges at all. */
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, empty, 0, NULL, empty, MPI_INFO_NULL, 0, &c));
	OK(MPI_Dist_graph_neighbors_count(c, &in, &out, &n));
	CHECK(in == 0 && out == 0 && n);
	OK(MPI_Dist_graph_neighbors(c, 0, NULL, NULL, 0, NULL, NULL));
	OK(MPI_Comm_free(&c));
}

static void refused(void)
{
	int index[2] = {2, 1}, edges[2] = {0, 0}, outside = check_size, degree = 1, falling = -1, n, m;
	MPI_Comm c;
	CHECK_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &m), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &m, &n), MPI_ERR_TOPOLOGY);
	if (!weft())
		return;
	CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, NULL, 0, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &outside, &degree, edges, unweighted, MPI_INFO_NULL, 0, &c), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, edges, &falling, edges, unweighted, MPI_INFO_NULL, 0, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, edges, &degree, edges, empty, MPI_INFO_NULL, 0, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, edges, &degree, edges, NULL, MPI_INFO_NULL, 0, &c), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	ring();
	distributed();
	refused();
	return check_end();
}
