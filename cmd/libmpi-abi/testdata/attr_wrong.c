/* Attributes behind delete functions that fail, and keys that are none: what the standard
 * leaves open, so other libraries do other things. ranks: 1 2 */
#include "check.h"

static int deleted[8], deletions, failing = -1;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm, (void)key, (void)extra;
	if ((int)(MPI_Aint)value == failing)
		return MPI_ERR_NO_MEM;
	deleted[deletions++ % 8] = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

static int on_type_delete(MPI_Datatype type, int key, void *value, void *extra)
{
	(void)type;
	return on_delete(MPI_COMM_NULL, key, value, extra);
}

static int copy_fails(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
	return MPI_ERR_NO_MEM;
}

/* An object stays if an attribute of its can't be deleted, and so do that and all before. */
static void fails(void)
{
	MPI_Comm comm, dup = MPI_COMM_WORLD, kept;
	MPI_Request request;
	int keys[5], bad, flag;
	void *value;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	for (int i = 0; i < 5; i++) {
		OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &keys[i], NULL));
		OK(MPI_Comm_set_attr(comm, keys[i], (void *)(MPI_Aint)i));
	}
	failing = 2;
	kept = comm;
	CHECK_CLASS(MPI_Comm_delete_attr(comm, keys[2]), MPI_ERR_NO_MEM);
	CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_NO_MEM);
	CHECK(comm == kept && deletions == 2 && deleted[0] == 4 && deleted[1] == 3);
	failing = -1;
	OK(MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &bad, NULL));
	OK(MPI_Comm_set_attr(comm, bad, NULL));
	deletions = 0; /* what has been copied by then is deleted, and there is no duplicate */
	CHECK_CLASS(MPI_Comm_dup(comm, &dup), MPI_ERR_NO_MEM);
	CHECK(dup == MPI_COMM_NULL && deletions == 3 && deleted[0] == 2 && deleted[2] == 0);
	CHECK_CLASS(MPI_Comm_idup(comm, &dup, &request), MPI_ERR_NO_MEM);
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* here there is one, with none of them */
	OK(MPI_Comm_get_attr(dup, keys[0], &value, &flag));
	CHECK(!flag);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_delete_attr(comm, bad));
	OK(MPI_Comm_free_keyval(&bad));
	deletions = 0;
	OK(MPI_Comm_free(&comm));
	CHECK(deletions == 3 && deleted[0] == 2 && deleted[1] == 1 && deleted[2] == 0);
	for (int i = 0; i < 5; i++)
		OK(MPI_Comm_free_keyval(&keys[i]));
}

static void types(void)
{
	MPI_Datatype type, kept;
	int key;
	OK(MPI_Type_contiguous(2, MPI_INT, &type));
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_type_delete, &key, NULL));
	OK(MPI_Type_set_attr(type, key, (void *)7));
	failing = 7;
	kept = type;
	CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_NO_MEM);
	CHECK(type == kept);
	failing = -1;
	OK(MPI_Type_free(&type));
	CHECK_CLASS(MPI_Type_free(&kept), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_dup(kept, &type), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Type_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL), MPI_ERR_KEYVAL);
	OK(MPI_Type_free_keyval(&key));
}

static void mistakes(void)
{
	MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
	MPI_Request request;
	int key, stale, again, flag, invalid = MPI_KEYVAL_INVALID;
	void *value;
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
	CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_NULL, key, NULL), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_NULL, key, &value, &flag), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, key, NULL, &flag), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WIN_BASE, &value, &flag), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Type_set_attr(MPI_INT, key, NULL), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Win_get_attr(MPI_WIN_NULL, MPI_WIN_BASE, &value, &flag), MPI_ERR_WIN);
	OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key)); /* there is none */
	stale = key;
	OK(MPI_Comm_free_keyval(&key));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &again, NULL));
	CHECK(again != stale);
	CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, stale, NULL), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_free_keyval(&stale), MPI_ERR_KEYVAL);
	OK(MPI_Comm_free_keyval(&again));
	CHECK_CLASS(MPI_Comm_free_keyval(&invalid), MPI_ERR_KEYVAL);
	CHECK_CLASS(MPI_Comm_free_keyval(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, NULL, NULL), MPI_ERR_ARG);
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)5));
	CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM); /* and loses nothing */
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
	CHECK(flag && world == MPI_COMM_WORLD);
	OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
	OK(MPI_Comm_free_keyval(&key));
	CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_free(NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_dup(comm, &comm), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, &comm, NULL), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, (MPI_Info)MPI_COMM_WORLD, &comm), MPI_ERR_INFO);
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int n;
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &n));
	if (strstr(version, "Weft")) {
		fails();
		types();
		mistakes();
	}
	return check_end();
}
