/* Communicators of communicators and of groups.
 * ranks: 1 2 5 */
#include "check.h"

/* works checks that a communicator has these many ranks, that they reach one another, and
 * that its messages are not those of MPI_COMM_WORLD. */
static void works(MPI_Comm comm, int rank, int size)
{
	int r = -1, n = -1, one = 1, sum = 0, inter = -1;
	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	CHECK(r == rank && n == size);
	OK(MPI_Comm_test_inter(comm, &inter));
	CHECK(inter == 0);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
	CHECK(sum == size);
}

static void compare(MPI_Comm a, MPI_Comm b, int wanted)
{
	int how = -1;
	OK(MPI_Comm_compare(a, b, &how));
	CHECK(how == wanted);
}

static void duplicates(void)
{
	MPI_Comm d, i, j;
	MPI_Request r;
	MPI_Errhandler h = MPI_ERRHANDLER_NULL;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &d));
	works(d, check_rank, check_size);
	compare(MPI_COMM_WORLD, d, MPI_CONGRUENT);
	compare(d, d, MPI_IDENT);
	OK(MPI_Comm_get_errhandler(d, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	OK(MPI_Comm_idup(d, &i, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(r == MPI_REQUEST_NULL);
	works(i, check_rank, check_size);
	OK(MPI_Comm_idup_with_info(i, MPI_INFO_NULL, &j, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	works(j, check_rank, check_size);
	compare(i, j, MPI_CONGRUENT);
	OK(MPI_Comm_get_errhandler(j, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	OK(MPI_Comm_free(&i));
	CHECK(i == MPI_COMM_NULL);
	works(j, check_rank, check_size);
	OK(MPI_Comm_disconnect(&j));
	CHECK(j == MPI_COMM_NULL);
	OK(MPI_Comm_free(&d));
}

/* The ranks backwards, and every other one. */
static void groups(void)
{
	int odd[8], others = 0, range[1][3] = {{check_size - 1, 0, -1}}, r;
	MPI_Group world, back, some;
	MPI_Comm c, d;
	for (r = 1; r < check_size && others < 8; r += 2)
		odd[others++] = r;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_range_incl(world, 1, range, &back));
	OK(MPI_Comm_create(MPI_COMM_WORLD, back, &c));
	works(c, check_size - 1 - check_rank, check_size);
	compare(c, MPI_COMM_WORLD, check_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);

	OK(MPI_Group_incl(world, others, odd, &some));
	OK(MPI_Comm_create(MPI_COMM_WORLD, some, &d));
	if (check_rank % 2) {
		works(d, check_rank / 2, others);
		compare(d, c, MPI_UNEQUAL);
		OK(MPI_Comm_free(&d));
		OK(MPI_Comm_create_group(c, some, 7, &d));
		works(d, check_rank / 2, others);
		OK(MPI_Comm_free(&d));
		OK(MPI_Comm_create_from_group(some, "org.example.odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d));
		works(d, check_rank / 2, others);
		OK(MPI_Comm_free(&d));
	} else {
		CHECK(d == MPI_COMM_NULL);
	}
	OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d));
	CHECK(d == MPI_COMM_NULL);
	OK(MPI_Group_free(&some));
	OK(MPI_Group_free(&back));
	OK(MPI_Group_free(&world));
	OK(MPI_Comm_free(&c));
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], longer[300];
	int n = -1;
	MPI_Comm d;
	OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n));
	CHECK(!strcmp(name, "MPI_COMM_WORLD") && n == 14);
	OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &n));
	CHECK(!strcmp(name, "MPI_COMM_SELF"));
	OK(MPI_Comm_dup(MPI_COMM_SELF, &d));
	OK(MPI_Comm_get_name(d, name, &n));
	CHECK(name[0] == 0 && n == 0);
	OK(MPI_Comm_set_name(d, "a name"));
	OK(MPI_Comm_get_name(d, name, &n));
	CHECK(!strcmp(name, "a name") && n == 6);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = 0;
	OK(MPI_Comm_set_name(d, longer));
	OK(MPI_Comm_get_name(d, name, &n));
	CHECK(n == MPI_MAX_OBJECT_NAME - 1 && strlen(name) == MPI_MAX_OBJECT_NAME - 1);
	OK(MPI_Comm_free(&d));
}

int main(int argc, char **argv)
{
	MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, parent = MPI_COMM_WORLD;
	int loop;
	check_init(&argc, &argv);
	for (loop = 0; loop < 3; loop++) {
		duplicates();
		groups();
	}
	names();
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
	CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_free(&self), MPI_ERR_COMM);
	CHECK(world == MPI_COMM_WORLD && self == MPI_COMM_SELF);
	works(MPI_COMM_WORLD, check_rank, check_size);
	return check_end();
}
