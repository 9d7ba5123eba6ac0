/* Grids.
 * ranks: 1 2 5 6 */
#include "check.h"

/* grid checks what the calls say of a grid of two dimensions, the first one periodic. */
static void grid(int rows, int columns)
{
	int dims[2] = {rows, columns}, periods[2] = {1, 0}, d[2], p[2], c[2], n = -1, rank = -1, topo = -1, r, from, to;
	int keep[2] = {0, 1}, outside[2] = {0, columns};
	MPI_Comm cart, row, dup;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
	if (check_rank >= rows * columns) {
		CHECK(cart == MPI_COMM_NULL);
		return;
	}
	OK(MPI_Topo_test(cart, &topo));
	CHECK(topo == MPI_CART);
	OK(MPI_Cartdim_get(cart, &n));
	CHECK(n == 2);
	OK(MPI_Cart_get(cart, 2, d, p, c));
	CHECK(d[0] == rows && d[1] == columns && p[0] == 1 && p[1] == 0);
	CHECK(c[0] == check_rank / columns && c[1] == check_rank % columns);
	for (r = 0; r < rows * columns; r++) {
		OK(MPI_Cart_coords(cart, r, 2, d));
		CHECK(d[0] == r / columns && d[1] == r % columns);
		d[0] -= 3 * rows; /* around */
		OK(MPI_Cart_rank(cart, d, &rank));
		CHECK(rank == r);
	}
	OK(MPI_Cart_shift(cart, 0, 1, &from, &to));
	CHECK(to == (c[0] + 1) % rows * columns + c[1]);
	CHECK(from == (c[0] + rows - 1) % rows * columns + c[1]);
	OK(MPI_Cart_shift(cart, 1, -1, &from, &to));
	CHECK(to == (c[1] > 0 ? check_rank - 1 : MPI_PROC_NULL));
	CHECK(from == (c[1] < columns - 1 ? check_rank + 1 : MPI_PROC_NULL));

	OK(MPI_Cart_sub(cart, keep, &row));
	OK(MPI_Comm_rank(row, &rank));
	OK(MPI_Comm_size(row, &n));
	CHECK(rank == c[1] && n == columns);
	OK(MPI_Cartdim_get(row, &n));
	CHECK(n == 1);
	OK(MPI_Comm_free(&row));
	OK(MPI_Comm_dup(cart, &dup));
	OK(MPI_Topo_test(dup, &topo));
	CHECK(topo == MPI_CART);
	OK(MPI_Comm_free(&dup));

	CHECK_CLASS(MPI_Cart_rank(cart, outside, &rank), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_coords(cart, rows * columns, 2, d), MPI_ERR_RANK);
	if (weft()) { /* MPICH 5.0 writes behind the end */
		CHECK_CLASS(MPI_Cart_get(cart, 1, d, p, c), MPI_ERR_ARG);
		CHECK_CLASS(MPI_Cart_coords(cart, 0, 1, d), MPI_ERR_ARG);
	}
	OK(MPI_Comm_free(&cart));
}

static void dims(void)
{
	static const struct {
		int nodes, in[3], out[3];
	} rows[] = {
		{12, {0, 0, 0}, {3, 2, 2}}, {7, {0, 0, 0}, {7, 1, 1}}, {24, {0, 3, 0}, {4, 3, 2}}, {6, {1, 2, 3}, {1, 2, 3}}, {1, {0, 0, 0}, {1, 1, 1}},
	};
	int d[3], i;
	for (i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
		memcpy(d, rows[i].in, sizeof d);
		OK(MPI_Dims_create(rows[i].nodes, 3, d));
		CHECK(!memcmp(d, rows[i].out, sizeof d));
	}
	d[0] = 5, d[1] = 0;
	CHECK_CLASS(MPI_Dims_create(12, 2, d), MPI_ERR_DIMS);
	CHECK(d[0] == 5 && d[1] == 0);
}

/* A grid of no dimensions has one rank. */
static void point(void)
{
	int n = -1, topo, rank = -1;
	MPI_Comm cart, line;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
	CHECK((cart == MPI_COMM_NULL) == (check_rank > 0));
	if (check_rank == 0) {
		OK(MPI_Cartdim_get(cart, &n));
		CHECK(n == 0);
		OK(MPI_Cart_get(cart, 0, NULL, NULL, NULL));
		OK(MPI_Cart_rank(cart, NULL, &rank));
		CHECK(rank == 0);
		OK(MPI_Comm_free(&cart));
	}
	OK(MPI_Topo_test(MPI_COMM_WORLD, &topo));
	CHECK(topo == MPI_UNDEFINED);
	n = check_size;
	topo = 1;
	OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &n, &topo, &rank));
	CHECK(rank >= 0 && rank < check_size);
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &topo, 1, &line));
	OK(MPI_Comm_size(line, &n));
	CHECK(n == check_size);
	OK(MPI_Comm_free(&line));
}

static void refused(void)
{
	int dims[2] = {check_size, 2}, periods[2] = {0, 0}, n, r = 0;
	MPI_Comm cart;
	CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
	if (!weft())
		return;
	CHECK_CLASS(MPI_Cart_get(MPI_COMM_WORLD, 2, dims, periods, &r), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_sub(MPI_COMM_WORLD, dims, &cart), MPI_ERR_TOPOLOGY);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart), MPI_ERR_DIMS);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &cart), MPI_ERR_DIMS);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 0, &cart), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, NULL, 0, &cart), MPI_ERR_ARG);
	dims[1] = 0;
	CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart), MPI_ERR_DIMS);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	dims();
	grid(check_size, 1);
	grid(1, check_size);
	grid(check_size > 2 ? check_size / 2 : 1, check_size > 2 ? 2 : 1);
	point();
	refused();
	return check_end();
}
