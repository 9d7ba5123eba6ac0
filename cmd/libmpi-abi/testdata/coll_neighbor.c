/* Calls of neighborhoods in all forms, on grids, also periodic ones of one rank, on graphs
 * and on distributed graphs, with types that have gaps, holes between blocks, and types of
 * their own.
 *
 * ranks: 1 2 5 */
#include "coll_forms.h"

enum { MOST = 12, ROOM = 200, N = 2 };

/* The neighborhood of this rank. On a grid what slot i gets comes from slot from[i] of its
 * rank, in a graph without edges between the same two from the only one to this rank. */
static int in, out, sources[MOST], from[MOST], got[ROOM], want[ROOM], mine[ROOM];

static int value(int rank, int slot, int i) { return 1 + 1000 * rank + 10 * slot + i; }

static void clear(void)
{
	for (int i = 0; i < ROOM; i++)
		got[i] = want[i] = -1;
}

static void same(const char *call)
{
	for (int i = 0; i < ROOM; i++)
		if (got[i] != want[i]) {
			check_failures++;
			fprintf(stderr, "%s, form %d, rank %d: number %d is %d, not %d\n", call, form, check_rank, i, got[i], want[i]);
			return;
		}
}

/* Blocks lie from the last to the first, each 2 numbers of 3. */
static int place(int slot, int slots) { return 3 * (slots - 1 - slot); }

static void neighbors(MPI_Comm comm, MPI_Datatype spaced)
{
	int rank, counts[MOST], to[MOST], back[MOST];
	MPI_Aint bytes[MOST], back_bytes[MOST];
	MPI_Datatype types[MOST];
	OK(MPI_Comm_rank(comm, &rank));
	for (int i = 0; i < MOST; i++) {
		counts[i] = N, types[i] = MPI_INT;
		to[i] = place(i, out), back[i] = place(i, in);
		bytes[i] = to[i] * (MPI_Aint)sizeof(int), back_bytes[i] = back[i] * (MPI_Aint)sizeof(int);
	}

	clear();
	for (int i = 0; i < N; i++)
		mine[i] = value(rank, 0, i);
	for (int i = 0; i < in * N; i++)
		if (sources[i / N] != MPI_PROC_NULL)
			want[i] = value(sources[i / N], 0, i % N);
	RUN(Neighbor_allgather, Ineighbor_allgather, mine, N, MPI_INT, got, N, MPI_INT, comm);
	same("Neighbor_allgather");

	clear();
	for (int i = 0; i < in * N; i++)
		if (sources[i / N] != MPI_PROC_NULL)
			want[place(i / N, in) + i % N] = value(sources[i / N], 0, i % N);
	RUN(Neighbor_allgatherv, Ineighbor_allgatherv, mine, N, MPI_INT, got, counts, back, MPI_INT, comm);
	same("Neighbor_allgatherv");

	clear(); /* as elements of a type, which are 3 numbers apart */
	for (int i = 0; i < in * N; i++)
		if (sources[i / N] != MPI_PROC_NULL)
			want[i / N * 3 + i % N * 2] = value(sources[i / N], from[i / N], i % N);
	for (int i = 0; i < out * N; i++)
		mine[i / N * 3 + i % N * 2] = value(rank, i / N, i % N);
	RUN(Neighbor_alltoall, Ineighbor_alltoall, mine, 1, spaced, got, 1, spaced, comm);
	same("Neighbor_alltoall");

	clear();
	for (int i = 0; i < in * N; i++)
		if (sources[i / N] != MPI_PROC_NULL)
			want[place(i / N, in) + i % N] = value(sources[i / N], from[i / N], i % N);
	for (int i = 0; i < out * N; i++)
		mine[place(i / N, out) + i % N] = value(rank, i / N, i % N);
	RUN(Neighbor_alltoallv, Ineighbor_alltoallv, mine, counts, to, MPI_INT, got, counts, back, MPI_INT, comm);
	same("Neighbor_alltoallv");

	for (int i = 0; i < ROOM; i++)
		got[i] = -1;
	RUN(Neighbor_alltoallw, Ineighbor_alltoallw, mine, counts, bytes, types, got, counts, back_bytes, types, comm);
	same("Neighbor_alltoallw");
}

static void grids(MPI_Datatype spaced)
{
	for (int periodic = 0; periodic < 2; periodic++) {
		int dims[2] = {0, 0}, periods[2] = {periodic, 0};
		MPI_Comm grid;
		OK(MPI_Dims_create(check_size, 2, dims));
		OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
		in = out = 4;
		for (int d = 0; d < 2; d++) {
			OK(MPI_Cart_shift(grid, d, 1, &sources[2 * d], &sources[2 * d + 1]));
			from[2 * d] = 2 * d + 1, from[2 * d + 1] = 2 * d;
		}
		neighbors(grid, spaced);
		OK(MPI_Comm_free(&grid));
	}
}

/* A ring with edges both ways, of at least three ranks so that none is there twice. */
static void graph(MPI_Datatype spaced)
{
	int index[MOST], edges[2 * MOST], p = check_size;
	MPI_Comm ring;
	if (p < 3)
		return;
	for (int r = 0; r < p; r++) {
		index[r] = 2 * (r + 1);
		edges[2 * r] = (r + 1) % p, edges[2 * r + 1] = (r + p - 1) % p;
	}
	OK(MPI_Graph_create(MPI_COMM_WORLD, p, index, edges, 0, &ring));
	in = out = 2;
	sources[0] = (check_rank + 1) % p, from[0] = 1;
	sources[1] = (check_rank + p - 1) % p, from[1] = 0;
	neighbors(ring, spaced);
	OK(MPI_Comm_free(&ring));
}

/* GCC takes the address of MPI_UNWEIGHTED for an array that is too short. */
static int *volatile unweighted = MPI_UNWEIGHTED;

/* Edges from each rank to itself and to those after it, up to the last one. */
static void distributed(MPI_Datatype spaced)
{
	int dests[MOST], p = check_size, me = check_rank;
	MPI_Comm graph;
	in = out = 0;
	for (int r = 0; r <= me; r++)
		sources[in] = r, from[in++] = me - r;
	for (int r = me; r < p; r++)
		dests[out++] = r;
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, unweighted, out, dests, unweighted, MPI_INFO_NULL, 0, &graph));
	neighbors(graph, spaced);
	OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
	MPI_Datatype pair, spaced;
	check_init(&argc, &argv);
	OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
	OK(MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &spaced));
	OK(MPI_Type_commit(&spaced));
	for (form = 0; form < FORMS; form++) {
		grids(spaced);
		graph(spaced);
		distributed(spaced);
	}
	CHECK_CLASS(MPI_Neighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
	OK(MPI_Type_free(&pair));
	OK(MPI_Type_free(&spaced));
	return check_end();
}
