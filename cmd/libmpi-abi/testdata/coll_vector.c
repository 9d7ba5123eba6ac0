/* Collective calls with blocks of different lengths: displacements out of order and below
 * the buffer's beginning, holes, empty blocks anywhere, types of their own, and elements that
 * overlap where no block is.
 *
 * ranks: 1 2 5 */
#include "coll_forms.h"

/* What means nothing at a rank may point anywhere. */
static int *volatile nowhere = (int *)8;

enum { MOST = 8, ROOM = 600, MIDDLE = 200 };

/* What rank from sends rank to: (from + to) % 3 numbers. */
static int length(int from, int to) { return (from + to) % 3; }
static int value(int from, int to, int i) { return 1 + i + 10 * to + 1000 * from; }

/* Blocks lie from the last rank's on to the first one's, 7 apart, the first one behind the
 * middle of the buffer; one that is empty lies nowhere. */
static int place(int rank, int n) { return n ? 7 * (check_size / 2 - rank) : -1234567; }

static void clear(int *room)
{
	for (int i = 0; i < ROOM; i++)
		room[i] = -1;
}

static void same(const char *call, const int *got, const int *want)
{
	for (int i = 0; i < ROOM; i++)
		if (got[i] != want[i]) {
			check_failures++;
			fprintf(stderr, "%s, form %d: number %d is %d, not %d\n", call, form, i, got[i], want[i]);
			return;
		}
}

static int counts[MOST], displs[MOST], to_counts[MOST], to_displs[MOST], got[ROOM], want[ROOM], out[ROOM];

static void lay(int *n, int *at, int from, int to)
{
	*n = length(from, to);
	*at = place(from == check_rank ? to : from, *n);
}

static void gathers(int root)
{
	int p = check_size, me = check_rank, mine = length(me, root);
	clear(got), clear(want), clear(out);
	for (int i = 0; i < mine; i++)
		out[i] = value(me, root, i);
	for (int r = 0; r < p; r++) {
		counts[r] = length(r, root), displs[r] = place(r, counts[r]);
		for (int i = 0; i < counts[r] && me == root; i++)
			want[MIDDLE + displs[r] + i] = value(r, root, i);
	}
	if (me == root)
		RUN(Gatherv, Igatherv, out, mine, MPI_INT, got + MIDDLE, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
	else
		RUN(Gatherv, Igatherv, out, mine, MPI_INT, nowhere, nowhere, nowhere, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	same("Gatherv", got, want);
	if (me == root)
		RUN(Gatherv, Igatherv, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, got + MIDDLE, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
	else
		RUN(Gatherv, Igatherv, out, mine, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	same("Gatherv in place", got, want);

	clear(got);
	if (me == root)
		RUN(Scatterv, Iscatterv, want + MIDDLE, counts, displs, MPI_INT, got, mine, MPI_INT, root, MPI_COMM_WORLD);
	else
		RUN(Scatterv, Iscatterv, nowhere, nowhere, nowhere, MPI_DATATYPE_NULL, got, mine, MPI_INT, root, MPI_COMM_WORLD);
	same("Scatterv", got, out);
	if (me == root)
		RUN(Scatterv, Iscatterv, want + MIDDLE, counts, displs, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
	else
		RUN(Scatterv, Iscatterv, NULL, NULL, NULL, MPI_DATATYPE_NULL, got, mine, MPI_INT, root, MPI_COMM_WORLD);
	same("Scatterv in place", got, out);
}

static void allgathers(void)
{
	int p = check_size, me = check_rank, mine = length(me, 0);
	clear(got), clear(want), clear(out);
	for (int i = 0; i < mine; i++)
		out[i] = value(me, 0, i);
	for (int r = 0; r < p; r++) {
		counts[r] = length(r, 0), displs[r] = place(r, counts[r]);
		for (int i = 0; i < counts[r]; i++)
			want[MIDDLE + displs[r] + i] = value(r, 0, i);
	}
	RUN(Allgatherv, Iallgatherv, out, mine, MPI_INT, got + MIDDLE, counts, displs, MPI_INT, MPI_COMM_WORLD);
	same("Allgatherv", got, want);
	RUN(Allgatherv, Iallgatherv, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, got + MIDDLE, counts, displs, MPI_INT, MPI_COMM_WORLD);
	same("Allgatherv in place", got, want);
}

static void alltoalls(void)
{
	int p = check_size, me = check_rank;
	MPI_Datatype types[MOST], to_types[MOST];
	clear(got), clear(want), clear(out);
	for (int r = 0; r < p; r++) {
		lay(&to_counts[r], &to_displs[r], me, r);
		lay(&counts[r], &displs[r], r, me);
		for (int i = 0; i < to_counts[r]; i++)
			out[MIDDLE + to_displs[r] + i] = value(me, r, i);
		for (int i = 0; i < counts[r]; i++)
			want[MIDDLE + displs[r] + i] = value(r, me, i);
	}
	RUN(Alltoallv, Ialltoallv, out + MIDDLE, to_counts, to_displs, MPI_INT, got + MIDDLE, counts, displs, MPI_INT, MPI_COMM_WORLD);
	same("Alltoallv", got, want);
	if (form != PERSISTENT) { /* which starts it twice */
		memcpy(got, out, sizeof got);
		RUN(Alltoallv, Ialltoallv, MPI_IN_PLACE, nowhere, nowhere, MPI_DATATYPE_NULL, got + MIDDLE, counts, displs, MPI_INT, MPI_COMM_WORLD);
		same("Alltoallv in place", got, want);
	}

	clear(got);
	for (int r = 0; r < p; r++) { /* in bytes, of types that are the same numbers */
		types[r] = r % 2 ? MPI_INT : MPI_INT32_T;
		to_types[r] = r % 2 ? MPI_INT32_T : MPI_INT;
		displs[r] *= (int)sizeof(int), to_displs[r] *= (int)sizeof(int);
	}
	RUN(Alltoallw, Ialltoallw, out + MIDDLE, to_counts, to_displs, to_types, got + MIDDLE, counts, displs, types, MPI_COMM_WORLD);
	same("Alltoallw", got, want);
	if (form != PERSISTENT) {
		memcpy(got, out, sizeof got);
		RUN(Alltoallw, Ialltoallw, MPI_IN_PLACE, NULL, NULL, NULL, got + MIDDLE, counts, displs, types, MPI_COMM_WORLD);
		same("Alltoallw in place", got, want);
	}
}

static void scatters(void)
{
	int p = check_size, me = check_rank, first = 0, n = 0;
	clear(got), clear(want), clear(out);
	for (int r = 0; r < p; r++) {
		counts[r] = r % 3;
		first += r < me ? counts[r] : 0;
		n += counts[r];
	}
	for (int i = 0; i < n; i++)
		out[i] = value(me, 0, i);
	for (int i = 0; i < counts[me]; i++)
		for (int r = want[i] = 0; r < p; r++)
			want[i] += value(r, 0, first + i);
	RUN(Reduce_scatter, Ireduce_scatter, out, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	same("Reduce_scatter", got, want);
	if (form != PERSISTENT) {
		memcpy(got, out, sizeof got);
		RUN(Reduce_scatter, Ireduce_scatter, MPI_IN_PLACE, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		CHECK(!memcmp(got, want, sizeof(int) * (size_t)counts[me]));
	}
}

/* With counts of 64 bits displacements have as many. */
static void large(void)
{
	MPI_Count n[MOST];
	MPI_Aint at[MOST];
	MPI_Datatype types[MOST];
	int mine[2] = {check_rank, -check_rank}, sent[2 * MOST], sum;
	clear(got), clear(want);
	for (int r = 0; r < check_size; r++) {
		n[r] = 2, at[r] = 3 * (check_size - r), types[r] = MPI_INT;
		want[at[r]] = sent[2 * r] = r, want[at[r] + 1] = sent[2 * r + 1] = -r;
	}
	OK(MPI_Allgatherv_c(mine, 2, MPI_INT, got, n, at, MPI_INT, MPI_COMM_WORLD));
	same("Allgatherv_c", got, want);
	OK(MPI_Gatherv_c(mine, 2, MPI_INT, got, n, at, MPI_INT, 0, MPI_COMM_WORLD));
	same("Gatherv_c", got, want);
	OK(MPI_Scatterv_c(got, n, at, MPI_INT, sent, 2, MPI_INT, 0, MPI_COMM_WORLD));
	CHECK(sent[0] == check_rank && sent[1] == -check_rank);
	OK(MPI_Reduce_scatter_c(want, sent, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK(sent[0] == want[2 * check_rank]);
	for (int r = 0; r < check_size; r++) {
		want[at[r]] = r, want[at[r] + 1] = r;
		out[at[r]] = out[at[r] + 1] = check_rank;
	}
	OK(MPI_Alltoallv_c(out, n, at, MPI_INT, got, n, at, MPI_INT, MPI_COMM_WORLD));
	same("Alltoallv_c", got, want);
	for (int r = 0; r < check_size; r++)
		at[r] *= (MPI_Aint)sizeof(int);
	OK(MPI_Alltoallw_c(out, n, at, types, got, n, at, types, MPI_COMM_WORLD));
	same("Alltoallw_c", got, want);
	OK(MPI_Allreduce_c(&check_rank, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK(sum == check_size - 1);
}

/* Squares of a matrix, each one extent of a row of squares further on. */
static void squares(void)
{
	enum { SIDE = 3, ACROSS = 2 };
	int p = check_size, width = SIDE * ACROSS, mine[SIDE * SIDE], matrix[SIDE * ACROSS * SIDE * MOST];
	MPI_Datatype strided, square;
	OK(MPI_Type_vector(SIDE, SIDE, width, MPI_INT, &strided));
	OK(MPI_Type_create_resized(strided, 0, SIDE * sizeof(int), &square));
	OK(MPI_Type_commit(&square));
	for (int i = 0; i < SIDE * SIDE; i++)
		mine[i] = check_rank * 100 + i;
	for (int r = 0; r < p; r++)
		counts[r] = 1, displs[r] = r / ACROSS * SIDE * ACROSS + r % ACROSS;
	RUN(Allgatherv, Iallgatherv, mine, SIDE * SIDE, MPI_INT, matrix, counts, displs, square, MPI_COMM_WORLD);
	for (int r = 0; r < p; r++)
		for (int i = 0; i < SIDE * SIDE; i++)
			CHECK(matrix[(r / ACROSS * SIDE + i / SIDE) * width + r % ACROSS * SIDE + i % SIDE] == r * 100 + i);
	memset(mine, 0, sizeof mine);
	RUN(Scatterv, Iscatterv, matrix, counts, displs, square, mine, SIDE * SIDE, MPI_INT, p - 1, MPI_COMM_WORLD);
	for (int i = 0; i < SIDE * SIDE; i++)
		CHECK(mine[i] == check_rank * 100 + i);
	OK(MPI_Type_free(&strided));
	OK(MPI_Type_free(&square));
}

/* Negative counts are refused at every rank. */
static void refusals(void)
{
	int zero[MOST] = {0}, less[MOST] = {-1, -1, -1, -1, -1, -1, -1, -1};
	MPI_Datatype types[MOST];
	for (int r = 0; r < MOST; r++)
		types[r] = MPI_INT;
	CHECK_CLASS(MPI_Allgatherv(out, 1, MPI_INT, got, less, zero, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Alltoallv(out, less, zero, MPI_INT, got, less, zero, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Alltoallw(out, less, zero, types, got, less, zero, types, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Reduce_scatter(out, got, less, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Gatherv(out, 1, MPI_INT, got, less, zero, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
	OK(MPI_Alltoallv(out, zero, less, MPI_INT, got, zero, less, MPI_INT, MPI_COMM_WORLD));
	OK(MPI_Alltoallw(out, zero, less, types, got, zero, less, types, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	for (form = 0; form < FORMS; form++) {
		gathers(0);
		gathers(check_size - 1);
		allgathers();
		alltoalls();
		scatters();
		squares();
	}
	large();
	refusals();
	return check_end();
}
