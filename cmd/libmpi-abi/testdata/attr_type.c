/* Attributes of datatypes. ranks: 1 */
#include "check.h"

static int order[8], deletions, fails;
static MPI_Datatype object;

static int on_delete(MPI_Datatype type, int key, void *value, void *extra)
{
	(void)key, (void)extra;
	object = type;
	if (fails)
		return MPI_ERR_OTHER;
	order[deletions++ % 8] = (int)(MPI_Aint)value;
	return MPI_SUCCESS;
}

static int on_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
	(void)key, (void)extra;
	object = type;
	*(void **)out = (char *)in + 10;
	*flag = 1;
	return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int has(MPI_Datatype type, int key, MPI_Aint wanted)
{
	void *value = NULL;
	int flag = -1;
	OK(MPI_Type_get_attr(type, key, &value, &flag));
	return wanted < 0 ? flag == 0 : flag == 1 && (MPI_Aint)value == wanted;
}

int main(int argc, char **argv)
{
	MPI_Datatype type, dup, kept;
	int mine, same, none;
	check_init(&argc, &argv);
	OK(MPI_Type_create_keyval(on_copy, on_delete, &mine, NULL));
	OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, on_delete, &same, NULL));
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL));
	OK(MPI_Type_contiguous(4, MPI_INT, &type));
	OK(MPI_Type_set_attr(type, mine, (void *)1));
	OK(MPI_Type_set_attr(type, same, (void *)2));
	OK(MPI_Type_set_attr(type, none, (void *)3));
	OK(MPI_Type_dup(type, &dup));
	CHECK(object == type && has(dup, mine, 11) && has(dup, same, 2) && has(dup, none, -1));
	fails = 1;
	kept = dup;
	CHECK(MPI_Type_dup(type, &dup) != MPI_SUCCESS);
	dup = kept;
	fails = 0;
	OK(MPI_Type_delete_attr(dup, mine));
	CHECK(has(dup, mine, -1) && has(type, mine, 1) && order[(deletions + 7) % 8] == 11);
	OK(MPI_Type_free(&dup));
	deletions = 0;
	OK(MPI_Type_free(&type));
	CHECK(deletions == 2 && order[0] + order[1] == 3 && type == MPI_DATATYPE_NULL);
	OK(MPI_Type_set_attr(MPI_INT, mine, (void *)5)); /* predefined types have some, too */
	CHECK(has(MPI_INT, mine, 5) && has(MPI_DOUBLE, mine, -1));
	OK(MPI_Type_delete_attr(MPI_INT, mine));
	type = MPI_INT;
	CHECK(MPI_Type_free(&type) != MPI_SUCCESS && type == MPI_INT);
	CHECK_CLASS(MPI_Type_set_attr(MPI_DATATYPE_NULL, mine, NULL), MPI_ERR_TYPE);
	CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, mine, NULL) != MPI_SUCCESS);
	OK(MPI_Type_free_keyval(&mine));
	OK(MPI_Type_free_keyval(&same));
	OK(MPI_Type_free_keyval(&none));
	return check_end();
}
