/* Makes calls that a file has as text, by a C MPI:
 *
 *   coll CASES RESULTS
 *   case CALL OP ROOT IN_PLACE SIDE...
 *
 * A case has two sides for each rank, what it sends and where it receives:
 *
 *   ORIGIN COUNT COUNTS... DISPLS... TYPES TREE... MEMORY
 *
 * that is COUNT elements from the byte ORIGIN of the memory on, of which COUNTS and DISPLS
 * are the blocks, one for each rank. Of TYPES types the first counts, except for alltoallw,
 * which takes them all. Rank i writes a line for each case to RESULTS.i: the memory where it
 * receives after the call, or
 *
 *   failed CALL: WHY */
#include "types.h"

enum { RANKS = 16 };

struct side {
	long origin, length;
	int count, *counts, *displs;
	MPI_Datatype types[RANKS];
	unsigned char *mem, *at; /* at is its byte origin */
};

static struct { const char *name; MPI_Op op; } ops[16];

static MPI_Op operator(const char *name)
{
	for (int i = 0; ops[i].name; i++)
		if (!strcmp(ops[i].name, name))
			return ops[i].op;
	return MPI_OP_NULL;
}

static void name_operators(void)
{
	const char *names[] = {"Sum", "Prod", "Max", "Min", "LAnd", "LOr", "LXor", "BAnd", "BOr", "BXor", "MinLoc", "MaxLoc"};
	MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		ops[i].name = names[i];
		ops[i].op = all[i];
	}
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void read_side(struct side *s, int ranks)
{
	char *text;
	s->origin = number();
	s->count = number();
	s->counts = ints(ranks);
	s->displs = ints(ranks);
	for (int i = 0, n = number(); i < n; i++) {
		int before = created;
		s->types[i] = tree();
		if (created > before)
			TRY(MPI_Type_commit(&s->types[i]));
	}
	if (scanf(" x%ms", &text) != 1)
		die("memory is missing");
	s->length = strlen(text) / 2;
	s->mem = malloc(s->length);
	s->at = s->mem + s->origin;
	for (long i = 0; i < s->length; i++)
		s->mem[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
	free(text);
}

static void free_side(struct side *s)
{
	free(s->counts);
	free(s->displs);
	free(s->mem);
}

/* Operations of all ranks on windows of what all of them send or receive. */
static void one_sided(const char *call, struct side all[][2], int me, int ranks, int root, MPI_Op op)
{
	int get = !strcmp(call, "get"), target = !strcmp(call, "accumulate") ? root : (me + 1) % ranks;
	struct side *mine = &all[me][get], *there = &all[target][!get], *part = &all[me][!get];
	MPI_Win w;
	TRY(MPI_Win_create(part->mem, part->length, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	TRY(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	TRY(MPI_Win_fence(0, w));
	if (get)
		TRY(MPI_Get(mine->at, mine->count, mine->types[0], target, there->origin, there->count, there->types[0], w));
	else if (!strcmp(call, "put"))
		TRY(MPI_Put(mine->at, mine->count, mine->types[0], target, there->origin, there->count, there->types[0], w));
	else
		TRY(MPI_Accumulate(mine->at, mine->count, mine->types[0], target, there->origin, there->count, there->types[0], op, w));
	TRY(MPI_Win_fence(0, w));
	TRY(MPI_Win_free(&w));
}

static void make(const char *call, struct side all[][2], int me, int ranks, int root, int in_place, MPI_Op op)
{
	struct side *s = &all[me][0], *r = &all[me][1];
	MPI_Comm w = MPI_COMM_WORLD;
	MPI_Datatype st = s->types[0], rt = r->types[0];
	/* The buffer in whose place the call takes the other, at the root or at all ranks. */
	void *send = in_place ? MPI_IN_PLACE : s->at;
	void *at_root = me == root ? send : s->at;
	void *room_at_root = me == root && in_place ? MPI_IN_PLACE : r->at;

	if (!strcmp(call, "bcast"))
		TRY(MPI_Bcast(r->at, r->count, rt, root, w));
	else if (!strcmp(call, "gather"))
		TRY(MPI_Gather(at_root, s->count, st, r->at, r->counts[0], rt, root, w));
	else if (!strcmp(call, "gatherv"))
		TRY(MPI_Gatherv(at_root, s->count, st, r->at, r->counts, r->displs, rt, root, w));
	else if (!strcmp(call, "scatter"))
		TRY(MPI_Scatter(s->at, s->counts[0], st, room_at_root, r->count, rt, root, w));
	else if (!strcmp(call, "scatterv"))
		TRY(MPI_Scatterv(s->at, s->counts, s->displs, st, room_at_root, r->count, rt, root, w));
	else if (!strcmp(call, "allgather"))
		TRY(MPI_Allgather(send, s->count, st, r->at, r->counts[0], rt, w));
	else if (!strcmp(call, "allgatherv"))
		TRY(MPI_Allgatherv(send, s->count, st, r->at, r->counts, r->displs, rt, w));
	else if (!strcmp(call, "alltoall"))
		TRY(MPI_Alltoall(send, s->counts[0], st, r->at, r->counts[0], rt, w));
	else if (!strcmp(call, "alltoallv"))
		TRY(MPI_Alltoallv(send, s->counts, s->displs, st, r->at, r->counts, r->displs, rt, w));
	else if (!strcmp(call, "alltoallw"))
		TRY(MPI_Alltoallw(send, s->counts, s->displs, s->types, r->at, r->counts, r->displs, r->types, w));
	else if (!strcmp(call, "reduce"))
		TRY(MPI_Reduce(at_root, r->at, s->count, st, op, root, w));
	else if (!strcmp(call, "allreduce"))
		TRY(MPI_Allreduce(send, r->at, s->count, st, op, w));
	else if (!strcmp(call, "reduce_scatter_block"))
		TRY(MPI_Reduce_scatter_block(send, r->at, s->counts[0], st, op, w));
	else if (!strcmp(call, "reduce_scatter"))
		TRY(MPI_Reduce_scatter(send, r->at, s->counts, st, op, w));
	else if (!strcmp(call, "scan"))
		TRY(MPI_Scan(send, r->at, s->count, st, op, w));
	else if (!strcmp(call, "exscan"))
		TRY(MPI_Exscan(send, r->at, s->count, st, op, w));
	else
		one_sided(call, all, me, ranks, root, op);
}

int main(int argc, char **argv)
{
	static struct side all[RANKS][2];
	char name[4096], call[32], op[32];
	int me, ranks;
	FILE *out;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	name_operators();
	if (argc != 3 || ranks > RANKS || !freopen(argv[1], "r", stdin))
		die("coll CASES RESULTS, on 16 ranks at most");
	snprintf(name, sizeof name, "%s.%d", argv[2], me);
	if (!(out = fopen(name, "w")))
		die("no file for the results");
	while (scanf(" case %31s %31s", call, op) == 2) {
		int root = number(), in_place = number();
		for (int i = 0; i < 2 * ranks; i++)
			read_side(&all[i / 2][i % 2], ranks);
		if (!failure[0])
			make(call, all, me, ranks, root, in_place, operator(op));
		if (failure[0])
			fprintf(out, "failed %s", failure);
		else
			hex(out, all[me][1].mem, all[me][1].length);
		fprintf(out, "\n");
		fflush(out);
		failure[0] = 0;
		release();
		for (int i = 0; i < 2 * ranks; i++)
			free_side(&all[i / 2][i % 2]);
	}
	fclose(out);
	MPI_Finalize();
	return 0;
}
