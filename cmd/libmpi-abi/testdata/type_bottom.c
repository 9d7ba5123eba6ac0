/* Memory that a message lies in: MPI_BOTTOM with addresses from the heap to a stack,
 * displacements before and far behind the buffer, and what is no memory.
 * ranks: 1 2 */
#include "check.h"

static double global[3] = {0.5, 1.5, 2.5};

/* everywhere is a type of the addresses of ints on the heap, doubles, and chars on the
 * stack. */
static MPI_Datatype everywhere(void *heap, void *fixed, void *stack)
{
	int lens[] = {4, 3, 5};
	MPI_Aint at[3];
	MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, t;
	OK(MPI_Get_address(heap, &at[0]));
	OK(MPI_Get_address(fixed, &at[1]));
	OK(MPI_Get_address(stack, &at[2]));
	OK(MPI_Type_create_struct(3, lens, at, types, &t));
	OK(MPI_Type_commit(&t));
	return t;
}

static void addresses(void)
{
	static double arrived[3];
	char word[8] = "bottom", got[8] = "";
	int *heap = malloc(4 * sizeof *heap), *other = calloc(4, sizeof *other), next = (check_rank + 1) % check_size;
	int before = (check_rank + check_size - 1) % check_size, count, size = 0, position = 0;
	char packed[64];
	MPI_Datatype from, to;
	MPI_Request r;
	MPI_Status st;
	for (int i = 0; i < 4; i++)
		heap[i] = 10 * check_rank + i;
	from = everywhere(heap, global, word);
	to = everywhere(other, arrived, got);
	OK(MPI_Irecv(MPI_BOTTOM, 1, to, before, 1, MPI_COMM_WORLD, &r));
	OK(MPI_Send(MPI_BOTTOM, 1, from, next, 1, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, &st));
	OK(MPI_Get_count(&st, to, &count));
	CHECK(count == 1);
	OK(MPI_Get_elements(&st, to, &count));
	CHECK(count == 12);
	for (int i = 0; i < 4; i++)
		CHECK(other[i] == 10 * before + i);
	CHECK(memcmp(arrived, global, sizeof global) == 0);
	CHECK(memcmp(got, word, 5) == 0 && got[5] == 0);
	/* The type is given up while a receive uses it. */
	memset(other, 0, 4 * sizeof *other);
	OK(MPI_Irecv(MPI_BOTTOM, 1, to, before, 2, MPI_COMM_WORLD, &r));
	OK(MPI_Type_free(&to));
	OK(MPI_Pack_size(1, from, MPI_COMM_WORLD, &size));
	CHECK(size >= 45 && size <= 64);
	OK(MPI_Pack(MPI_BOTTOM, 1, from, packed, 64, &position, MPI_COMM_WORLD));
	CHECK(position >= 45 && position <= size);
	OK(MPI_Send(packed, position, MPI_PACKED, next, 2, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, &st));
	for (int i = 0; i < 4; i++)
		CHECK(other[i] == 10 * before + i);
	OK(MPI_Type_free(&from));
	free(heap);
	free(other);
}

/* One address, and elements of it: those of count 2 lie one extent apart. */
static void absolute(void)
{
	int from[8] = {0, 1, 2, 3, 4, 5, 6, 7}, to[4] = {-1, -1, -1, -1};
	MPI_Aint at;
	MPI_Datatype t, wide;
	MPI_Status st;
	OK(MPI_Get_address(&from[1], &at));
	OK(MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, &t));
	OK(MPI_Type_create_resized(t, at, 12, &wide));
	OK(MPI_Type_commit(&wide));
	OK(MPI_Sendrecv(MPI_BOTTOM, 3, wide, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[0] == 1 && to[1] == 4 && to[2] == 7 && to[3] == -1);
	OK(MPI_Type_free(&wide));
	OK(MPI_Type_create_resized(t, at, -4, &wide)); /* backwards */
	OK(MPI_Type_commit(&wide));
	OK(MPI_Sendrecv(MPI_BOTTOM, 2, wide, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[0] == 1 && to[1] == 0 && to[2] == 7);
	OK(MPI_Type_free(&wide));
	OK(MPI_Type_free(&t));
}

/* Displacements that are negative, and such as begin far behind the buffer. */
static void displaced(void)
{
	int from[8] = {0, 1, 2, 3, 4, 5, 6, 7}, to[8];
	int disps[] = {-2, 1}, behind[] = {3, 6};
	MPI_Datatype t;
	MPI_Status st;
	OK(MPI_Type_create_indexed_block(2, 1, disps, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	memset(to, 0, sizeof to);
	OK(MPI_Sendrecv(from + 4, 1, t, 0, 1, to + 2, 1, t, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[0] == 2 && to[3] == 5 && to[1] == 0 && to[2] == 0);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_create_indexed_block(2, 1, behind, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	memset(to, 0, sizeof to);
	OK(MPI_Sendrecv(from, 1, t, 0, 1, to, 1, t, 0, 1, MPI_COMM_SELF, &st));
	CHECK(to[3] == 3 && to[6] == 6 && to[0] == 0 && to[7] == 0);
	OK(MPI_Type_free(&t));
}

static void no_memory(void)
{
	int buf[4] = {0};
	MPI_Datatype empty;
	MPI_Status st;
	OK(MPI_Sendrecv(NULL, 0, MPI_INT, 0, 1, NULL, 0, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &st));
	OK(MPI_Type_contiguous(0, MPI_INT, &empty));
	OK(MPI_Type_commit(&empty));
	OK(MPI_Sendrecv(NULL, 5, empty, 0, 1, NULL, 7, empty, 0, 1, MPI_COMM_SELF, &st));
	OK(MPI_Type_free(&empty));
	CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Recv(NULL, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &st), MPI_ERR_BUFFER);
	CHECK_CLASS(MPI_Send(buf, -1, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_COUNT);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	addresses();
	absolute();
	displaced();
	no_memory();
	return check_end();
}
