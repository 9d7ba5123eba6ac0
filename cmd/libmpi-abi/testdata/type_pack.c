/* Packing: by a communicator, and in external32.
 * ranks: 1 2 */
#include "check.h"

/* Two pieces are packed, sent to the next rank, received as they are, and unpacked. */
static void pieces(void)
{
	struct { int n; double values[3]; } a = {7, {1.25, 2.5, -3}}, b = {0};
	char buffer[200];
	int size, sizes, position = 0, used, next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
	MPI_Count size_c, position_c = 0;
	MPI_Datatype ends; /* the first and the last value */
	MPI_Status st;
	OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &ends));
	OK(MPI_Type_commit(&ends));
	OK(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size));
	OK(MPI_Pack_size(1, ends, MPI_COMM_WORLD, &sizes));
	CHECK(size >= 4 && sizes >= 16);
	OK(MPI_Pack_size_c(1, ends, MPI_COMM_WORLD, &size_c));
	CHECK(size_c == sizes);
	OK(MPI_Pack(&a.n, 1, MPI_INT, buffer, size + sizes, &position, MPI_COMM_WORLD));
	CHECK(position > 0 && position <= size);
	OK(MPI_Pack(a.values, 1, ends, buffer, size + sizes, &position, MPI_COMM_WORLD));
	CHECK(position >= 20 && position <= size + sizes);
	OK(MPI_Sendrecv_replace(buffer, position, MPI_PACKED, next, 1, before, 1, MPI_COMM_WORLD, &st));
	OK(MPI_Get_count(&st, MPI_PACKED, &used));
	CHECK(used == position);
	position = 0;
	OK(MPI_Unpack(buffer, used, &position, &b.n, 1, MPI_INT, MPI_COMM_WORLD));
	OK(MPI_Unpack(buffer, used, &position, b.values, 1, ends, MPI_COMM_WORLD));
	CHECK(position == used && b.n == 7 && b.values[0] == 1.25 && b.values[1] == 0 && b.values[2] == -3);
	OK(MPI_Pack_c(a.values, 1, ends, buffer, 200, &position_c, MPI_COMM_WORLD));
	CHECK(position_c == 16);
	memset(&b, 0, sizeof b);
	position_c = 8;
	OK(MPI_Unpack_c(buffer, 200, &position_c, b.values, 1, MPI_DOUBLE, MPI_COMM_WORLD));
	CHECK(position_c == 16 && b.values[0] == -3);
	OK(MPI_Type_free(&ends));
}

/* What is packed as one type arrives as another of the same elements. */
static void as_others(void)
{
	int ints[4] = {1, 2, 3, 4}, to[4] = {0};
	char buffer[64];
	int position = 0;
	MPI_Status st;
	OK(MPI_Pack(ints, 4, MPI_INT, buffer, 64, &position, MPI_COMM_SELF));
	OK(MPI_Sendrecv(buffer, position, MPI_PACKED, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &st));
	CHECK(memcmp(ints, to, sizeof to) == 0);
	memset(buffer, 0, sizeof buffer);
	OK(MPI_Sendrecv(ints, 4, MPI_INT, 0, 1, buffer, 64, MPI_PACKED, 0, 1, MPI_COMM_SELF, &st));
	memset(to, 0, sizeof to);
	position = 0;
	OK(MPI_Unpack(buffer, 64, &position, to, 4, MPI_INT, MPI_COMM_SELF));
	CHECK(memcmp(ints, to, sizeof to) == 0);
}

static void external(void)
{
	static const unsigned char wanted[] = {
		0x12, 0x34, 0x56, 0x78, 0xff, 0xfe, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0x20, 0, 0, 'x', 1, 2, 3, 4, 5, 6, 7, 8,
	};
	struct { int i; short s; double d; float f; char c; long long l; } a = {0x12345678, -2, 1.5, -2.5f, 'x', 0x0102030405060708}, b = {0};
	MPI_Datatype types[] = {MPI_INT, MPI_SHORT, MPI_DOUBLE, MPI_FLOAT, MPI_CHAR, MPI_LONG_LONG};
	void *from[] = {&a.i, &a.s, &a.d, &a.f, &a.c, &a.l}, *to[] = {&b.i, &b.s, &b.d, &b.f, &b.c, &b.l};
	MPI_Aint size, position = 0, sum = 0;
	MPI_Count size_c, position_c = 0;
	unsigned char buffer[64];
	for (int i = 0; i < 6; i++) {
		OK(MPI_Pack_external_size("external32", 1, types[i], &size));
		OK(MPI_Pack_external("external32", from[i], 1, types[i], buffer, 64, &position));
		CHECK(position == (sum += size));
	}
	CHECK(position == sizeof wanted && memcmp(buffer, wanted, sizeof wanted) == 0);
	position = 0;
	for (int i = 0; i < 6; i++)
		OK(MPI_Unpack_external("external32", buffer, sum, &position, to[i], 1, types[i]));
	CHECK(position == sum && b.i == a.i && b.s == a.s && b.d == a.d && b.f == a.f && b.c == a.c && b.l == a.l);
	OK(MPI_Pack_external_size_c("external32", 3, MPI_DOUBLE, &size_c));
	CHECK(size_c == 24);
	OK(MPI_Pack_external_c("external32", &a.d, 1, MPI_DOUBLE, buffer, 64, &position_c));
	CHECK(position_c == 8 && memcmp(buffer, wanted + 6, 8) == 0);
	position_c = 0;
	b.d = 0;
	OK(MPI_Unpack_external_c("external32", buffer, 8, &position_c, &b.d, 1, MPI_DOUBLE));
	CHECK(position_c == 8 && b.d == 1.5);
}

/* A long has 4 bytes there. */
static void external_longs(void)
{
	static const unsigned char wanted[] = {0xff, 0xff, 0xff, 0xfb, 0x7f, 0xff, 0xff, 0xff};
	long longs[2] = {-5, 0x7fffffff}, to[2] = {0};
	unsigned char buffer[16];
	MPI_Aint size, position = 0;
	OK(MPI_Pack_external_size("external32", 2, MPI_LONG, &size));
	CHECK(size == 8);
	OK(MPI_Pack_external("external32", longs, 2, MPI_LONG, buffer, 16, &position));
	CHECK(position == 8 && memcmp(buffer, wanted, 8) == 0);
	position = 0;
	OK(MPI_Unpack_external("external32", buffer, 8, &position, to, 2, MPI_LONG));
	CHECK(position == 8 && to[0] == -5 && to[1] == 0x7fffffff);
}

static void wrong(void)
{
	int n = 1, position = 0, to;
	char buffer[8];
	CHECK_CLASS(MPI_Pack(&n, -1, MPI_INT, buffer, 8, &position, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Pack(&n, 1, MPI_DATATYPE_NULL, buffer, 8, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Pack(&n, 1, MPI_INT, buffer, 8, &position, MPI_COMM_NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Unpack(buffer, 8, &position, &to, -1, MPI_INT, MPI_COMM_SELF), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &n), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_SELF, &n), MPI_ERR_TYPE);
	CHECK(position == 0);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	pieces();
	as_others();
	external();
	external_longs();
	wrong();
	return check_end();
}
