/* Handles as integers, and addresses. ranks: 1 */
#include "check.h"

#define SAME(name, handle)                                                \
	do {                                                              \
		CHECK(name##_fromint(name##_toint(handle)) == (handle)); \
	} while (0)

static void note(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void add(void *in, void *inout, int *n, MPI_Datatype *type) { (void)in, (void)inout, (void)n, (void)type; }

static void predefined(void)
{
	static const MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_CHAR, MPI_INT, MPI_LONG_LONG, MPI_DOUBLE, MPI_2INT, MPI_BYTE, MPI_PACKED, MPI_INT8_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET, MPI_LONG_DOUBLE};
	static const MPI_Op ops[] = {MPI_OP_NULL, MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		SAME(MPI_Type, types[i]);
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		SAME(MPI_Op, ops[i]);
	SAME(MPI_Comm, MPI_COMM_NULL);
	SAME(MPI_Comm, MPI_COMM_WORLD);
	SAME(MPI_Comm, MPI_COMM_SELF);
	SAME(MPI_Group, MPI_GROUP_NULL);
	SAME(MPI_Group, MPI_GROUP_EMPTY);
	SAME(MPI_Win, MPI_WIN_NULL);
	SAME(MPI_File, MPI_FILE_NULL);
	SAME(MPI_Session, MPI_SESSION_NULL);
	SAME(MPI_Message, MPI_MESSAGE_NULL);
	SAME(MPI_Message, MPI_MESSAGE_NO_PROC);
	SAME(MPI_Info, MPI_INFO_NULL);
	SAME(MPI_Info, MPI_INFO_ENV);
	SAME(MPI_Errhandler, MPI_ERRHANDLER_NULL);
	SAME(MPI_Errhandler, MPI_ERRORS_ARE_FATAL);
	SAME(MPI_Errhandler, MPI_ERRORS_ABORT);
	SAME(MPI_Errhandler, MPI_ERRORS_RETURN);
	SAME(MPI_Request, MPI_REQUEST_NULL);
	CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 257 && MPI_Type_toint(MPI_INT) == 0x209 && MPI_Op_toint(MPI_SUM) == 33);
}

/* What the program has made: every kind that one rank can make at once. */
static void made(void)
{
	MPI_Comm comm;
	MPI_Group group;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Win win;
	MPI_Session session;
	int x = 0;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_group(comm, &group));
	OK(MPI_Info_create(&info));
	OK(MPI_Comm_create_errhandler(note, &errhandler));
	OK(MPI_Type_contiguous(3, MPI_INT, &type));
	OK(MPI_Op_create(add, 1, &op));
	OK(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	SAME(MPI_Comm, comm);
	SAME(MPI_Group, group);
	SAME(MPI_Info, info);
	SAME(MPI_Errhandler, errhandler);
	SAME(MPI_Type, type);
	SAME(MPI_Op, op);
	SAME(MPI_Win, win);
	SAME(MPI_Session, session);
	OK(MPI_Session_finalize(&session));
	OK(MPI_Win_free(&win));
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&type));
	OK(MPI_Errhandler_free(&errhandler));
	OK(MPI_Info_free(&info));
	OK(MPI_Group_free(&group));
	OK(MPI_Comm_free(&comm));
}

static void addresses(void)
{
	int a[10] = {0}, version = 0, subversion = -1;
	MPI_Aint first, last;
	OK(MPI_Get_address(&a[0], &first));
	OK(MPI_Get_address(&a[9], &last));
	CHECK(first == (MPI_Aint)&a[0]);
	CHECK(MPI_Aint_diff(last, first) == 9 * (MPI_Aint)sizeof(int) && MPI_Aint_diff(first, last) == -9 * (MPI_Aint)sizeof(int));
	CHECK(MPI_Aint_add(first, 9 * sizeof(int)) == last);
	OK(MPI_Get_address(MPI_BOTTOM, &first));
	CHECK(first == 0);
	CHECK_CLASS(MPI_Get_address(a, NULL), MPI_ERR_ARG);
	OK(MPI_Get_version(&version, &subversion));
	CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
	CHECK_CLASS(MPI_Get_version(NULL, &subversion), MPI_ERR_ARG);
	CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 0.1 && MPI_Wtime() <= MPI_Wtime());
}

int main(int argc, char **argv)
{
	check_init(&argc, &argv);
	predefined();
	made();
	addresses();
	return check_end();
}
