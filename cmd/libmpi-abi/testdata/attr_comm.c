/* Attributes of communicators: their functions, order, copies and errors. ranks: 1 2 5 */
#include "check.h"

enum { MOST = 16 };
static int deleted[MOST], deletions, copies, fails;
static MPI_Comm object;

/* A key's extra is its number here, and an attribute's value is that number too. */
static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)key, (void)extra;
	object = comm;
	if (fails)
		return MPI_ERR_OTHER;
	if (deletions < MOST)
		deleted[deletions] = (int)(MPI_Aint)value;
	deletions++;
	return MPI_SUCCESS;
}

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)key;
	object = comm;
	copies++;
	CHECK(((MPI_Aint)in & 0xff) == (MPI_Aint)extra);
	*(void **)out = (char *)in + 0x100;
	*flag = (MPI_Aint)extra != 9; /* which is not copied */
	return MPI_SUCCESS;
}

static int on_copy_fails(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	(void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
	return MPI_ERR_NO_MEM;
}

static void *V(MPI_Aint v) { return (void *)v; }

static int has(MPI_Comm comm, int key, MPI_Aint wanted)
{
	void *value = V(-1);
	int flag = -1;
	OK(MPI_Comm_get_attr(comm, key, &value, &flag));
	return wanted < 0 ? flag == 0 : flag == 1 && (MPI_Aint)value == wanted;
}

static void sets(void)
{
	MPI_Comm comm;
	int key, same;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, V(1)));
	CHECK(key != MPI_KEYVAL_INVALID && has(comm, key, -1));
	OK(MPI_Comm_set_attr(comm, key, V(1)));
	CHECK(has(comm, key, 1) && has(MPI_COMM_WORLD, key, -1));
	deletions = 0;
	OK(MPI_Comm_set_attr(comm, key, V(2))); /* deletes the old one */
	CHECK(deletions == 1 && deleted[0] == 1 && object == comm && has(comm, key, 2));
	fails = 1;
	CHECK(MPI_Comm_set_attr(comm, key, V(3)) != MPI_SUCCESS);
	CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
	fails = 0;
	CHECK(has(comm, key, 2));
	same = key;
	OK(MPI_Comm_free_keyval(&key)); /* it goes on while there is an attribute */
	CHECK(key == MPI_KEYVAL_INVALID);
	OK(MPI_Comm_delete_attr(comm, same));
	CHECK(deletions == 2 && deleted[1] == 2);
	OK(MPI_Comm_free(&comm));
	CHECK(deletions == 2);
}

static void ends(void)
{
	MPI_Comm comm;
	int key;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	for (int i = 0; i < 5; i++) {
		OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
		OK(MPI_Comm_set_attr(comm, key, V(i)));
		OK(MPI_Comm_free_keyval(&key));
	}
	deletions = 0;
	OK(MPI_Comm_free(&comm));
	CHECK(comm == MPI_COMM_NULL && deletions == 5);
	for (int i = 0; i < 5; i++)
		CHECK(deleted[i] == 4 - i);
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL));
	OK(MPI_Comm_set_attr(comm, key, V(1)));
	deletions = 0;
	OK(MPI_Comm_disconnect(&comm));
	CHECK(comm == MPI_COMM_NULL && deletions == 1);
	OK(MPI_Comm_free_keyval(&key));
}

static void duplicates(void)
{
	MPI_Comm comm, dup, second;
	MPI_Request request;
	int mine, theirs, none, not_copied;
	OK(MPI_Comm_create_keyval(on_copy, on_delete, &mine, V(7)));
	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &theirs, NULL));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL));
	OK(MPI_Comm_create_keyval(on_copy, on_delete, &not_copied, V(9)));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_set_attr(comm, mine, V(7)));
	OK(MPI_Comm_set_attr(comm, theirs, V(8)));
	OK(MPI_Comm_set_attr(comm, none, V(5)));
	OK(MPI_Comm_set_attr(comm, not_copied, V(9)));
	copies = 0;
	OK(MPI_Comm_dup(comm, &dup));
	CHECK(copies == 2 && object == comm);
	CHECK(has(dup, mine, 0x107) && has(dup, theirs, 8) && has(dup, none, -1) && has(dup, not_copied, -1));
	OK(MPI_Comm_idup(dup, &second, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(has(second, mine, 0x207) && has(second, theirs, 8));
	OK(MPI_Comm_free(&second));
	OK(MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &second));
	CHECK(has(second, mine, 0x207) && has(comm, mine, 7));
	OK(MPI_Comm_free(&second));
	OK(MPI_Comm_split(comm, 0, check_rank, &second)); /* no copy */
	CHECK(has(second, mine, -1));
	OK(MPI_Comm_free(&second));
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&comm));
	OK(MPI_Comm_free_keyval(&mine));
	OK(MPI_Comm_free_keyval(&theirs));
	OK(MPI_Comm_free_keyval(&none));
	OK(MPI_Comm_free_keyval(&not_copied));
}

static void copy_that_fails(void)
{
	MPI_Comm comm, dup;
	int good, bad;
	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, on_delete, &good, NULL));
	OK(MPI_Comm_create_keyval(on_copy_fails, MPI_COMM_NULL_DELETE_FN, &bad, NULL));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_Comm_set_attr(comm, good, V(1)));
	OK(MPI_Comm_set_attr(comm, bad, V(2)));
	CHECK(MPI_Comm_dup(comm, &dup) != MPI_SUCCESS);
	OK(MPI_Comm_delete_attr(comm, bad));
	OK(MPI_Comm_dup(comm, &dup)); /* comm is as it was */
	CHECK(has(dup, good, 1));
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&comm));
	OK(MPI_Comm_free_keyval(&good));
	OK(MPI_Comm_free_keyval(&bad));
}

static void predefined(void)
{
	static const int keys[] = {MPI_TAG_UB, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE, MPI_APPNUM, MPI_UNIVERSE_SIZE};
	int *value, flag, class;
	for (int i = 0; i < 7; i++) {
		value = NULL;
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag));
		CHECK(flag ? value != NULL : i >= 5);
		CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, keys[i], &flag) != MPI_SUCCESS);
		CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[i]) != MPI_SUCCESS);
		class = keys[i];
		CHECK(MPI_Comm_free_keyval(&class) != MPI_SUCCESS);
	}
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
	CHECK(flag && *value >= 32767);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag));
	CHECK(!flag || *value >= check_size);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
	CHECK(flag && *value >= MPI_ERR_LASTCODE);
	OK(MPI_Add_error_class(&class));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
	CHECK(flag && *value >= class);
}

static void old_names(void)
{
	void *value;
	int key, flag;
	OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Attr_put(MPI_COMM_SELF, key, V(3)));
	OK(MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag));
	CHECK(flag && value == V(3));
	OK(MPI_Attr_delete(MPI_COMM_SELF, key));
	OK(MPI_Keyval_free(&key));
}

/* Finalize deletes those of MPI_COMM_SELF while calls can be made. */
static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
	int rank = -1, over = -1;
	(void)key, (void)extra;
	OK(MPI_Comm_rank(comm, &rank));
	OK(MPI_Finalized(&over));
	CHECK(rank == 0 && over == 0 && comm == MPI_COMM_SELF);
	deleted[deletions++] = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int key;
	check_init(&argc, &argv);
	sets();
	ends();
	duplicates();
	copy_that_fails();
	predefined();
	old_names();
	for (int i = 0; i < 3; i++) {
		OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL));
		OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, V(i)));
	}
	deletions = 0;
	MPI_Finalize();
	CHECK(deletions == 3 && deleted[0] == 2 && deleted[1] == 1 && deleted[2] == 0);
	return check_failures ? 1 : 0;
}
