/* Random sets of ranks as groups, against lists that the program keeps.
 * ranks: 1 2 5 */
#include "check.h"

enum { MOST = 8 };

/* A list of ranks of MPI_COMM_WORLD, in the order of a group. */
struct list {
	int n, rank[MOST];
};

static MPI_Group world;

static int find(const struct list *l, int rank)
{
	for (int i = 0; i < l->n; i++)
		if (l->rank[i] == rank)
			return i;
	return -1;
}

/* is compares a group with a list, and frees it. */
static void is(MPI_Group *g, const struct list *l)
{
	int n = -1, rank = -1, all[MOST], there[MOST];
	OK(MPI_Group_size(*g, &n));
	CHECK(n == l->n);
	OK(MPI_Group_rank(*g, &rank));
	CHECK(rank == (find(l, check_rank) < 0 ? MPI_UNDEFINED : find(l, check_rank)));
	for (int i = 0; i < l->n; i++)
		all[i] = i;
	OK(MPI_Group_translate_ranks(*g, l->n, all, world, there));
	for (int i = 0; i < l->n; i++)
		CHECK(there[i] == l->rank[i]);
	OK(MPI_Group_free(g));
	CHECK(*g == MPI_GROUP_NULL);
}

static void shuffled(struct list *l)
{
	l->n = 0;
	for (int r = 0; r < check_size; r++) {
		if (rand() % 3 == 0)
			continue;
		int at = rand() % (l->n + 1);
		memmove(l->rank + at + 1, l->rank + at, (size_t)(l->n - at) * sizeof *l->rank);
		l->rank[at] = r;
		l->n++;
	}
}

static void append(struct list *l, const struct list *from, const struct list *in, int wanted)
{
	for (int i = 0; i < from->n; i++)
		if ((find(in, from->rank[i]) >= 0) == wanted)
			l->rank[l->n++] = from->rank[i];
}

static int same(const struct list *a, const struct list *b)
{
	struct list both = {0};
	append(&both, a, b, 1);
	if (a->n != b->n || both.n != a->n)
		return MPI_UNEQUAL;
	return memcmp(a->rank, b->rank, (size_t)a->n * sizeof *a->rank) ? MPI_SIMILAR : MPI_IDENT;
}

static void two(const struct list *a, const struct list *b)
{
	MPI_Group g, h, result;
	struct list l = *a;
	int how = -1, place[MOST], there[MOST];
	OK(MPI_Group_incl(world, a->n, a->rank, &g));
	OK(MPI_Group_incl(world, b->n, b->rank, &h));
	CHECK((g == MPI_GROUP_EMPTY) == (a->n == 0));
	OK(MPI_Group_compare(g, h, &how));
	CHECK(how == same(a, b));

	append(&l, b, a, 0);
	OK(MPI_Group_union(g, h, &result));
	is(&result, &l);
	l.n = 0;
	append(&l, a, b, 1);
	OK(MPI_Group_intersection(g, h, &result));
	is(&result, &l);
	l.n = 0;
	append(&l, a, b, 0);
	OK(MPI_Group_difference(g, h, &result));
	is(&result, &l);

	for (int i = 0; i < a->n; i++)
		place[i] = a->n - 1 - i;
	place[a->n] = MPI_PROC_NULL;
	OK(MPI_Group_translate_ranks(g, a->n + 1, place, h, there));
	for (int i = 0; i < a->n; i++) {
		int at = find(b, a->rank[place[i]]);
		CHECK(there[i] == (at < 0 ? MPI_UNDEFINED : at));
	}
	CHECK(there[a->n] == MPI_PROC_NULL);
	is(&g, a);
	is(&h, b);
}

/* What a list has, and has not, of a group. */
static void parts(const struct list *a)
{
	MPI_Group g, result;
	struct list l = {0}, out = {0};
	int place[MOST], n = 0, range[2][3] = {{0, a->n - 1, 2}, {a->n - 1, 0, -2}};
	OK(MPI_Group_incl(world, a->n, a->rank, &g));
	for (int i = a->n - 1; i >= 0; i--) {
		if (rand() % 2)
			continue;
		place[n++] = i;
		l.rank[l.n++] = a->rank[i];
	}
	OK(MPI_Group_incl(g, n, place, &result));
	is(&result, &l);
	append(&out, a, &l, 0);
	OK(MPI_Group_excl(g, n, place, &result));
	is(&result, &out);

	if (a->n > 0) {
		l.n = out.n = 0;
		for (int i = 0; i < a->n; i += 2)
			l.rank[l.n++] = a->rank[i];
		append(&out, a, &l, 0);
		OK(MPI_Group_range_incl(g, 1, range, &result));
		is(&result, &l);
		OK(MPI_Group_range_excl(g, 1, range, &result));
		is(&result, &out);
		l.n = 0;
		for (int i = a->n - 1; i >= 0; i -= 2)
			l.rank[l.n++] = a->rank[i];
		OK(MPI_Group_range_incl(g, 1, range + 1, &result));
		is(&result, &l);
	}
	OK(MPI_Group_range_incl(g, 0, range, &result));
	l.n = 0;
	is(&result, &l);
	OK(MPI_Group_range_excl(g, 0, range, &result));
	is(&result, a);
	OK(MPI_Group_free(&g));
}

static void refused(void)
{
	MPI_Group g = MPI_GROUP_NULL;
	int twice[2] = {0, 0}, outside[1] = {check_size}, standing[1][3] = {{0, 0, 0}}, r;
	if (weft()) {
		CHECK_CLASS(MPI_Group_incl(world, 2, twice, &g), MPI_ERR_RANK);
		CHECK_CLASS(MPI_Group_incl(world, 2147483647, twice, &g), MPI_ERR_RANK);
	}
	CHECK_CLASS(MPI_Group_incl(world, 1, outside, &g), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_excl(world, 1, outside, &g), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_incl(world, -1, twice, &g), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_range_incl(world, 1, standing, &g), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_translate_ranks(world, 1, outside, world, &r), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &r), MPI_ERR_GROUP);
	CHECK(g == MPI_GROUP_NULL);
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	srand(4711 + (unsigned)check_rank);
	for (int i = 0; i < 200; i++) {
		struct list a, b;
		shuffled(&a);
		shuffled(&b);
		two(&a, &b);
		two(&a, &a);
		parts(&a);
	}
	refused();
	OK(MPI_Group_free(&world));
	return check_end();
}
