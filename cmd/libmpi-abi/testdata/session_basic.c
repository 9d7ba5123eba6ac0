/* Sessions, without MPI_Init and beside it.
 * ranks: 1 2 5 */
#include "check.h"

/* pset looks for a process set and returns the number of its processes. */
static int pset(MPI_Session s, const char *wanted)
{
	int n = 0, found = 0, size = -1, len, flag = 0;
	char name[MPI_MAX_PSET_NAME_LEN], value[16];
	MPI_Info info;
	OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
	CHECK(n >= 2);
	for (int i = 0; i < n; i++) {
		int need = 0;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &need, NULL));
		len = sizeof name;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name));
		CHECK(need == (int)strlen(name) + 1);
		CHECK(!weft() || len == need); /* MPICH 5.0 leaves it */
		found += !strcmp(name, wanted);
		len = 4;
		OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, value));
		CHECK(strlen(value) == 3 && !strncmp(name, value, 3));
	}
	CHECK(found == 1);
	len = sizeof name;
	CHECK_CLASS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &len, name), MPI_ERR_ARG);
	OK(MPI_Session_get_pset_info(s, wanted, &info));
	len = sizeof value;
	OK(MPI_Info_get_string(info, "mpi_size", &len, value, &flag));
	if (flag)
		size = atoi(value);
	OK(MPI_Info_free(&info));
	return size;
}

/* use makes communicators of a session, and ends it. Errors are returned. */
static void use(const char *tag)
{
	MPI_Session s = MPI_SESSION_NULL;
	MPI_Group world, self, none, g;
	MPI_Comm c, d;
	MPI_Info info;
	MPI_Errhandler h = MPI_ERRHANDLER_NULL;
	char level[MPI_MAX_INFO_VAL] = "";
	int rank = -1, size = -1, sum = -1, one = 1, flag = 0, len = sizeof level;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
	OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
	OK(MPI_Info_free(&info));
	CHECK(s != MPI_SESSION_NULL);
	OK(MPI_Session_get_errhandler(s, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	OK(MPI_Session_get_info(s, &info));
	OK(MPI_Info_get_string(info, "thread_level", &len, level, &flag));
	CHECK(flag && (!weft() || !strcmp(level, "MPI_THREAD_MULTIPLE")));
	OK(MPI_Info_free(&info));

	CHECK(pset(s, "mpi://SELF") == 1);
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &world));
	OK(MPI_Group_size(world, &size));
	OK(MPI_Group_rank(world, &rank));
	CHECK(pset(s, "mpi://WORLD") == size);
	OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Comm_get_errhandler(c, &h));
	CHECK(h == MPI_ERRORS_RETURN);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
	CHECK(sum == size);
	OK(MPI_Comm_dup(c, &d));
	OK(MPI_Comm_rank(d, &sum));
	CHECK(sum == rank);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_disconnect(&c));

	OK(MPI_Group_from_session_pset(s, "mpi://SELF", &self));
	OK(MPI_Comm_create_from_group(self, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Comm_size(c, &sum));
	CHECK(sum == 1);
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_difference(world, self, &none));
	OK(MPI_Group_size(none, &sum));
	CHECK(sum == size - 1);
	CHECK_CLASS(MPI_Group_from_session_pset(s, "mpi://NOWHERE", &g), MPI_ERR_ARG);
	OK(MPI_Group_free(&none));
	OK(MPI_Group_free(&self));
	OK(MPI_Group_free(&world));
	OK(MPI_Session_finalize(&s));
	CHECK(s == MPI_SESSION_NULL);
}

/* The error handler that a communicator is to have sees the errors of its creation: there
 * is no MPI_COMM_SELF yet. */
static void refused(MPI_Group g)
{
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Session s = MPI_SESSION_NULL;
	char tag[MPI_MAX_STRINGTAG_LEN + 1];
	if (!weft())
		return;
	memset(tag, 't', sizeof tag);
	tag[MPI_MAX_STRINGTAG_LEN] = 0;
	CHECK_CLASS(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Intercomm_create_from_groups(g, 0, g, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);
	CHECK_CLASS(MPI_Session_init((MPI_Info)&s, MPI_ERRORS_RETURN, &s), MPI_ERR_INFO);
	CHECK(c == MPI_COMM_NULL && s == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
	int flag = -1, len = 0;
	MPI_Session s, t;
	MPI_Group g, h;
	MPI_Comm c = MPI_COMM_NULL;
	MPI_Info hardware;
	use("org.example.first");
	use("org.example.second");
	OK(MPI_Initialized(&flag));
	CHECK(!flag);

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &t));
	CHECK(s != t);
	OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &len));
	OK(MPI_Get_hw_resource_info(&hardware));
	OK(MPI_Info_free(&hardware));
	use("org.example.third");
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
	OK(MPI_Group_from_session_pset(t, "mpi://SELF", &h));

	refused(g);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&h));
	OK(MPI_Session_finalize(&t));

	/* Beside MPI_COMM_WORLD, which they outlive. */
	check_init(&argc, &argv);
	use("org.example.beside");
	MPI_Finalize();
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
	OK(MPI_Comm_create_from_group(g, "org.example.behind", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Barrier(c));
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_free(&g));
	OK(MPI_Session_finalize(&s));
	return check_failures ? 1 : 0;
}
