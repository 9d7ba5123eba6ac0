/* Error handlers: each kind, and their references. ranks: 1 2 5 */
#include "check.h"
#include <setjmp.h>

static int seen, seen_code, seen_class;
static MPI_Comm seen_comm;
static MPI_Session seen_session;
static MPI_Win seen_win;
static MPI_File seen_file;
static jmp_buf out;

static void note(int code)
{
	seen++;
	seen_code = code;
	MPI_Error_class(code, &seen_class);
}

static void on_comm(MPI_Comm *comm, int *code, ...) { seen_comm = *comm, note(*code); }
static void on_win(MPI_Win *win, int *code, ...) { seen_win = *win, note(*code); }
static void on_session(MPI_Session *session, int *code, ...) { seen_session = *session, note(*code); }
static void on_file(MPI_File *file, int *code, ...) { seen_file = *file, note(*code); }

static void leave(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	note(*code);
	longjmp(out, 1);
}

static void returns(void)
{
	MPI_Errhandler h, again;
	MPI_Comm comm;
	int x = 0;
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_set_errhandler(comm, h));
	OK(MPI_Errhandler_free(&h));
	CHECK(h == MPI_ERRHANDLER_NULL);
	seen = 0;
	MPI_Send(&x, 1, MPI_INT, check_size + 7, 0, comm);
	CHECK(seen == 1 && seen_class == MPI_ERR_RANK && seen_comm == comm);
	OK(MPI_Comm_get_errhandler(comm, &h)); /* the object has kept it */
	OK(MPI_Comm_get_errhandler(comm, &again));
	CHECK(h == again);
	OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Comm_set_errhandler(comm, again)); /* one reference is left */
	OK(MPI_Errhandler_free(&again));
	OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
	CHECK(seen == 2 && seen_code == MPI_ERR_TAG && seen_comm == comm);
	OK(MPI_Comm_free(&comm));
}

/* A communicator has the handler of the one that it is made of. */
static void inherits(void)
{
	MPI_Errhandler h;
	MPI_Comm comm, child;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	OK(MPI_Comm_set_errhandler(comm, h));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Comm_dup(comm, &child));
	OK(MPI_Comm_free(&comm));
	seen = 0;
	OK(MPI_Comm_call_errhandler(child, MPI_ERR_OTHER));
	CHECK(seen == 1 && seen_comm == child);
	OK(MPI_Comm_free(&child));
}

static void jumps(void)
{
	MPI_Errhandler h;
	int x = 0;
	volatile int times = 0;
	OK(MPI_Comm_create_errhandler(leave, &h));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, h));
	seen = 0;
	setjmp(out);
	if (times++ < 3) {
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_SELF);
		CHECK(!"the handler has left the call");
	}
	CHECK(seen == 3);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF));
}

static void windows(void)
{
	MPI_Errhandler h, initial;
	MPI_Win win;
	int x = 0;
	OK(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_get_errhandler(win, &initial));
	CHECK(initial == MPI_ERRORS_ARE_FATAL);
	OK(MPI_Errhandler_free(&initial));
	OK(MPI_Win_create_errhandler(on_win, &h));
	OK(MPI_Win_set_errhandler(win, h));
	OK(MPI_Errhandler_free(&h));
	seen = 0;
	OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
	CHECK(seen == 1 && seen_win == win && seen_code == MPI_ERR_RMA_RANGE);
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Win_free(&win));
}

static void sessions(void)
{
	MPI_Errhandler h, got;
	MPI_Session session;
	OK(MPI_Session_create_errhandler(on_session, &h));
	OK(MPI_Session_init(MPI_INFO_NULL, h, &session));
	OK(MPI_Session_get_errhandler(session, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	OK(MPI_Errhandler_free(&h));
	seen = 0;
	OK(MPI_Session_call_errhandler(session, MPI_ERR_ARG));
	CHECK(seen == 1 && seen_session == session);
	OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
	OK(MPI_Session_finalize(&session));
	CHECK(session == MPI_SESSION_NULL);
}

/* Files return errors unless the handler of MPI_FILE_NULL is another one. */
static void files(void)
{
	MPI_Errhandler h, got;
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == MPI_ERRORS_RETURN);
	OK(MPI_File_create_errhandler(on_file, &h));
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	OK(MPI_Errhandler_free(&h));
	seen = 0;
	OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
	CHECK(seen == 1 && seen_file == MPI_FILE_NULL && seen_code == MPI_ERR_IO);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
}

/* What is made of no communicator is given its handler. */
static void given(void)
{
	MPI_Errhandler h;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
	OK(MPI_Comm_create_errhandler(on_comm, &h));
	OK(MPI_Comm_create_from_group(group, "org.weft-mpi.errors", MPI_INFO_NULL, h, &comm));
	OK(MPI_Errhandler_free(&h));
	seen = 0;
	OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
	CHECK(seen == 1 && seen_comm == comm);
	OK(MPI_Comm_free(&comm));
	OK(MPI_Group_free(&group));
	OK(MPI_Session_finalize(&session));
}

/* More handlers than there are handles: what nothing has is used again. */
static void many(void)
{
	MPI_Errhandler h, kept;
	MPI_Comm comm;
	OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
	OK(MPI_Comm_create_errhandler(on_comm, &kept));
	OK(MPI_Comm_set_errhandler(comm, kept));
	OK(MPI_Errhandler_free(&kept));
	for (int i = 0; i < (1 << 20) + 5000; i++) {
		if (MPI_Win_create_errhandler(on_win, &h) || MPI_Errhandler_free(&h)) {
			CHECK(!"there is a handle");
			break;
		}
	}
	seen = 0;
	OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
	CHECK(seen == 1 && seen_comm == comm);
	OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	returns();
	inherits();
	jumps();
	windows();
	sessions();
	files();
	given();
	many();
	return check_end();
}
