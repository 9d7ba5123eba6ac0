/* Handles that are stale, null, or of another kind, and null pointers, of communicators,
 * groups, info objects and sessions. Not MPICH's: it looks at less.
 * ranks: 1 2 */
#include "check.h"

/* Handles that are none of a kind. MPI calls that are made with one return the class of the
 * kind, and change nothing. */
static void none(void *handle)
{
	MPI_Comm c = handle, d = MPI_COMM_SELF;
	MPI_Group g = handle, h = MPI_GROUP_EMPTY;
	MPI_Info i = handle, j = MPI_INFO_ENV;
	MPI_Session s = handle;
	int n = 0, rank[1] = {0};
	char text[MPI_MAX_PSET_NAME_LEN] = "k";
	CHECK_CLASS(MPI_Comm_size(c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_dup(c, &d), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_split(c, 0, 0, &d), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_compare(c, MPI_COMM_WORLD, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_create(c, MPI_GROUP_EMPTY, &d), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_group(c, &h), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_set_name(c, "name"), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_info(c, &j), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Topo_test(c, &n), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Cart_create(c, 0, NULL, NULL, 0, &d), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_free(&c), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_disconnect(&c), MPI_ERR_COMM);

	CHECK_CLASS(MPI_Group_size(g, &n), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_incl(g, 1, rank, &h), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_union(MPI_GROUP_EMPTY, g, &h), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_translate_ranks(MPI_GROUP_EMPTY, 0, rank, g, rank), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, g, &d), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Comm_create_from_group(g, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Group_free(&g), MPI_ERR_GROUP);

	CHECK_CLASS(MPI_Info_set(i, "k", "v"), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_dup(i, &j), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_get_nkeys(i, &n), MPI_ERR_INFO);
	CHECK_CLASS(MPI_Info_free(&i), MPI_ERR_INFO);
	if (handle != (void *)MPI_INFO_NULL) {
		CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_SELF, i, &d), MPI_ERR_INFO);
		CHECK_CLASS(MPI_Comm_set_info(MPI_COMM_SELF, i), MPI_ERR_INFO);
	}

	CHECK_CLASS(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_get_pset_info(s, "mpi://WORLD", &j), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &n, text), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Group_from_session_pset(s, "mpi://WORLD", &h), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_finalize(&s), MPI_ERR_SESSION);
	CHECK(d == MPI_COMM_SELF && h == MPI_GROUP_EMPTY && j == MPI_INFO_ENV);
	CHECK(c == handle && g == handle && i == handle && s == handle);
}

/* null makes calls that give no memory for a result, or no text. */
static void null(void)
{
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Group g = MPI_GROUP_NULL, world;
	MPI_Info i;
	char key[MPI_MAX_INFO_KEY];
	int n = 4;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Info_create(&i));
	CHECK_CLASS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_dup(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_set_name(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_name(MPI_COMM_SELF, key, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_from_group(world, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_incl(world, 1, NULL, &g), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_range_excl(world, 1, NULL, &g), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_translate_ranks(world, 1, NULL, world, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Group_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_set(i, NULL, "v"), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_set(i, "k", NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Info_create(NULL), MPI_ERR_ARG);
	OK(MPI_Info_set(i, "k", "v"));
	CHECK_CLASS(MPI_Info_get_string(i, "k", &n, NULL, &n), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Dims_create(4, 1, NULL), MPI_ERR_ARG);
	OK(MPI_Info_free(&i));
	OK(MPI_Group_free(&world));
	CHECK(c == MPI_COMM_NULL && g == MPI_GROUP_NULL);
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Comm c;
	MPI_Group g;
	MPI_Info i;
	MPI_Session s;
	int n;
	MPI_Get_library_version(version, &n);
	check_init(&argc, &argv);
	if (strncmp(version, "Weft", 4))
		return check_end();
	none(NULL);
	none(MPI_COMM_NULL);
	none(MPI_GROUP_NULL);
	none(MPI_INFO_NULL);
	none(MPI_SESSION_NULL);
	none(MPI_INT);
	none((void *)(intptr_t)-1);
	none(&c); /* as programs with another header's handles give it */

	OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
	OK(MPI_Comm_group(c, &g));
	OK(MPI_Info_create(&i));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	{
		MPI_Comm stale_comm = c;
		MPI_Group stale_group = g;
		MPI_Info stale_info = i;
		MPI_Session stale_session = s;
		OK(MPI_Comm_free(&c));
		OK(MPI_Group_free(&g));
		OK(MPI_Info_free(&i));
		OK(MPI_Session_finalize(&s));
		OK(MPI_Comm_dup(MPI_COMM_SELF, &c)); /* in the same slots */
		OK(MPI_Comm_group(c, &g));
		OK(MPI_Info_create(&i));
		OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
		CHECK(c != stale_comm && g != stale_group && i != stale_info && s != stale_session);
		none(stale_comm);
		none(stale_group);
		none(stale_info);
		none(stale_session);
	}
	null();
	OK(MPI_Comm_size(c, &n));
	OK(MPI_Group_size(g, &n));
	OK(MPI_Info_get_nkeys(i, &n));
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&g));
	OK(MPI_Info_free(&i));
	OK(MPI_Session_finalize(&s));
	return check_end();
}
