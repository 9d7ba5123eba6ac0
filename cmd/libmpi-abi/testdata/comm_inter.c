/* Intercommunicators: the even ranks of MPI_COMM_WORLD and the odd ones.
 * ranks: 2 5 */
#include "check.h"

/* connected checks an intercommunicator, which it frees. */
static void connected(MPI_Comm inter, MPI_Comm local)
{
	int odd = check_rank % 2, size, remote, flag = 0, sum, one = 1, rank, first, r;
	int theirs = odd ? (check_size + 1) / 2 : check_size / 2;
	MPI_Group a, b, world;
	MPI_Comm both, dup;
	OK(MPI_Comm_test_inter(inter, &flag));
	CHECK(flag == 1);
	OK(MPI_Comm_size(inter, &size));
	OK(MPI_Comm_remote_size(inter, &remote));
	CHECK(size == check_size - theirs && remote == theirs);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
	CHECK(sum == theirs);

	/* The remote group has the ranks of the other parity, in order. */
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Comm_remote_group(inter, &a));
	OK(MPI_Group_size(a, &size));
	CHECK(size == theirs);
	for (r = 0; r < size; r++) {
		int w = -1;
		OK(MPI_Group_translate_ranks(a, 1, &r, world, &w));
		CHECK(w == 2 * r + 1 - odd);
	}
	OK(MPI_Comm_group(inter, &b));
	OK(MPI_Group_rank(b, &rank));
	CHECK(rank == check_rank / 2);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
	OK(MPI_Group_free(&world));

	OK(MPI_Comm_dup(inter, &dup));
	OK(MPI_Comm_compare(inter, dup, &flag));
	CHECK(flag == MPI_CONGRUENT);
	OK(MPI_Comm_compare(inter, local, &flag));
	CHECK(flag == MPI_UNEQUAL);
	OK(MPI_Intercomm_merge(dup, odd, &both));
	OK(MPI_Comm_rank(both, &rank));
	OK(MPI_Comm_test_inter(both, &flag));
	first = odd ? (check_size + 1) / 2 : 0;
	CHECK(rank == first + check_rank / 2 && !flag);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both));
	CHECK(sum == check_size);
	OK(MPI_Comm_free(&both));
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&inter));
	CHECK(inter == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
	MPI_Comm local, inter, none;
	MPI_Group own, other;
	MPI_Errhandler h = MPI_ERRHANDLER_NULL;
	int odd, even[1][3], uneven[1][3], last;
	check_init(&argc, &argv);
	odd = check_rank % 2;
	OK(MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &local));

	/* What only a leader gives may be anything elsewhere. */
	OK(MPI_Intercomm_create(local, 0, check_rank < 2 ? MPI_COMM_WORLD : MPI_COMM_NULL, check_rank < 2 ? 1 - odd : -77, 12, &inter));
	OK(MPI_Comm_get_errhandler(inter, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	connected(inter, local);

	last = check_size - 1;
	even[0][0] = 0, even[0][1] = last - last % 2, even[0][2] = 2;
	uneven[0][0] = 1, uneven[0][1] = last - 1 + last % 2, uneven[0][2] = 2;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &other));
	OK(MPI_Group_range_incl(other, 1, odd ? uneven : even, &own));
	OK(MPI_Group_free(&other));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &other));
	{
		MPI_Group all = other;
		OK(MPI_Group_difference(all, own, &other));
		OK(MPI_Group_free(&all));
	}
	OK(MPI_Intercomm_create_from_groups(own, 0, other, 0, "org.example.two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
	OK(MPI_Comm_get_errhandler(inter, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	connected(inter, local);
	OK(MPI_Group_free(&own));
	OK(MPI_Group_free(&other));

	/* What is for two groups is refused by communicators of one. */
	if (weft()) {
		CHECK_CLASS(MPI_Comm_remote_group(local, &other), MPI_ERR_COMM);
		CHECK_CLASS(MPI_Intercomm_merge(local, 0, &none), MPI_ERR_COMM);
	}
	CHECK_CLASS(MPI_Intercomm_create(local, 99, MPI_COMM_WORLD, 1 - odd, 12, &none), MPI_ERR_RANK);
	OK(MPI_Comm_free(&local));
	return check_end();
}
