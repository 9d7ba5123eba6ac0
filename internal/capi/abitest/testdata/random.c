/* Makes the calls that a file lists, and prints of each the error class and a hash of what
 * was received. random_test.go makes the same calls by package mpi. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, GATHER, SCATTER, ALLGATHER, ALLTOALL, GATHERV, RING, VECTOR, SPLIT };

static struct { MPI_Datatype type; char kind; int size, parts; } types[] = {
	{MPI_INT8_T, 'i', 1, 1}, {MPI_UINT16_T, 'i', 2, 1}, {MPI_INT32_T, 'i', 4, 1}, {MPI_INT64_T, 'i', 8, 1}, {MPI_FLOAT, 'f', 4, 1},
	{MPI_DOUBLE, 'f', 8, 1}, {MPI_C_DOUBLE_COMPLEX, 'f', 8, 2}, {MPI_2INT, 'i', 4, 2}, {MPI_C_BOOL, 'b', 1, 1}, {MPI_BYTE, 'i', 1, 1},
};

static unsigned char out[1 << 18], in[1 << 18];

static void fill(unsigned char *p, int t, long n, long seed)
{
	for (long i = 0; i < n * types[t].parts; i++, p += types[t].size) {
		int64_t v = (seed + 3 * i) % 5 - 2;
		if (types[t].kind == 'b')
			v &= 1;
		if (types[t].kind != 'f') {
			memcpy(p, &v, types[t].size);
		} else if (types[t].size == 4) {
			float f = v;
			memcpy(p, &f, 4);
		} else {
			double f = v;
			memcpy(p, &f, 8);
		}
	}
}

static uint64_t hash(const unsigned char *p, long n)
{
	uint64_t h = 14695981039346656037u;
	for (long i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE};
	MPI_Comm comm;
	int rank, size, me, call, t, op, count, root, extra, in_place;
	long seed;
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	if (!f)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int step = 0; fscanf(f, "%d %d %d %d %d %d %d %ld", &call, &t, &op, &count, &root, &extra, &in_place, &seed) == 8; step++) {
		MPI_Datatype type = types[t].type, vector;
		long n = count < 0 ? 0 : count, each = types[t].size * types[t].parts;
		int code = 0, class, counts[8], displs[8], total = 0;
		MPI_Comm_rank(comm, &rank);
		MPI_Comm_size(comm, &size);
		memset(out, 0, sizeof out);
		memset(in, 0xa5, sizeof in);
		fill(out, t, n * size, seed + 7 * rank);
		int rooted = call == REDUCE || call == GATHER || call == SCATTER;
		in_place = in_place && call != BCAST && call < GATHERV && (!rooted || rank == root);
		if (in_place || call == BCAST || call == VECTOR)
			fill(call == SCATTER ? out : in, t, n * size, seed + 7 * rank);
		void *send = in_place && call != SCATTER ? MPI_IN_PLACE : out, *recv = in_place && call == SCATTER ? MPI_IN_PLACE : in;
		switch (call) {
		case BCAST: code = MPI_Bcast(in, count, type, root, comm); break;
		case REDUCE: code = MPI_Reduce(send, recv, count, type, ops[op], root, comm); break;
		case ALLREDUCE: code = MPI_Allreduce(send, recv, count, type, ops[op], comm); break;
		case SCAN: code = MPI_Scan(send, recv, count, type, ops[op], comm); break;
		case EXSCAN: code = MPI_Exscan(send, recv, count, type, ops[op], comm); break;
		case REDUCE_SCATTER_BLOCK: code = MPI_Reduce_scatter_block(send, recv, count, type, ops[op], comm); break;
		case GATHER: code = MPI_Gather(send, count, type, recv, count, type, root, comm); break;
		case SCATTER: code = MPI_Scatter(send, count, type, recv, count, type, root, comm); break;
		case ALLGATHER: code = MPI_Allgather(send, count, type, recv, count, type, comm); break;
		case ALLTOALL: code = MPI_Alltoall(send, count, type, recv, count, type, comm); break;
		case GATHERV:
			for (int r = 0; r < size; r++) {
				counts[r] = (int)((seed + r) % 4);
				displs[r] = total;
				total += counts[r] + extra;
			}
			code = MPI_Gatherv(out, counts[rank], type, in, counts, displs, type, root, comm);
			break;
		case RING: {
			MPI_Request r[2];
			MPI_Status s;
			int got = -1;
			MPI_Barrier(comm);
			code = MPI_Irecv(in, count + extra - 1, type, (rank + size - 1) % size, 3, comm, &r[0]);
			if (!code && (code = MPI_Isend(out, count, type, (rank + 1) % size, 3, comm, &r[1])) != 0)
				MPI_Cancel(&r[0]), MPI_Wait(&r[0], &s);
			if (!code) {
				MPI_Wait(&r[1], MPI_STATUS_IGNORE);
				code = MPI_Wait(&r[0], &s);
				MPI_Get_count(&s, type, &got);
				printf("%d %d from %d tag %d count %d\n", me, step, s.MPI_SOURCE, s.MPI_TAG, got);
			}
			break;
		}
		case VECTOR:
			MPI_Type_vector(3, 1 + extra, 3, type, &vector);
			MPI_Type_commit(&vector);
			code = MPI_Bcast(in, count < 0 ? count : 1, vector, root, comm);
			MPI_Type_free(&vector);
			break;
		case SPLIT:
			MPI_Comm_free(&comm);
			code = MPI_Comm_split(MPI_COMM_WORLD, me % (1 + extra), -me, &comm);
			break;
		}
		MPI_Error_class(code, &class);
		printf("%d %d class %d hash %016llx\n", me, step, class, (unsigned long long)hash(in, n * size * each + 256));
	}
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
