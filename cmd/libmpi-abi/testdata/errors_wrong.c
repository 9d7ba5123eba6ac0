/* Error handlers and statuses that are none, of another kind or missing: what the standard
 * leaves open, so other libraries do other things. ranks: 1 */
#include "check.h"

static void on_comm(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void on_win(MPI_Win *win, int *code, ...) { (void)win, (void)code; }

static void handlers(void)
{
	MPI_Errhandler h, stale, other, none = MPI_ERRHANDLER_NULL, fatal = MPI_ERRORS_ARE_FATAL, odd = (MPI_Errhandler)MPI_COMM_WORLD;
	MPI_Session session = MPI_SESSION_NULL;
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	stale = h;
	OK(MPI_Errhandler_free(&h));
	CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, stale), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Errhandler_free(&none), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Errhandler_free(&odd), MPI_ERR_ERRHANDLER);
	OK(MPI_Errhandler_free(&fatal)); /* what get_errhandler may have returned */
	CHECK_CLASS(MPI_Errhandler_free(NULL), MPI_ERR_ARG);
	OK(MPI_Win_create_errhandler(on_win, &other));
	CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, other), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, other, &session), MPI_ERR_ERRHANDLER);
	OK(MPI_Errhandler_free(&other));
	CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
	CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_errhandler(MPI_COMM_NULL, &h), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_errhandler(MPI_COMM_SELF, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_create_errhandler(NULL, &h), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_errhandler(on_comm, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_OTHER), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Session_set_errhandler(MPI_SESSION_NULL, MPI_ERRORS_RETURN), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
	CHECK_CLASS(MPI_Session_finalize(NULL), MPI_ERR_ARG);
	OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER)); /* returns */
}

static void statuses(void)
{
	MPI_Status s;
	int v;
	CHECK_CLASS(MPI_Status_get_source(MPI_STATUS_IGNORE, &v), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Status_get_tag(&s, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Test_cancelled(&s, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Test_cancelled(MPI_STATUS_IGNORE, &v), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Status_set_cancelled(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Is_thread_main(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Initialized(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Finalized(NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int n;
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &n));
	if (strstr(version, "Weft")) {
		handlers();
		statuses();
	}
	return check_end();
}
