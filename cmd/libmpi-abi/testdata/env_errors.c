/* Error classes, codes and texts; names and versions.
 * ranks: 1 2 */
#include "check.h"

static int class_of(int code)
{
	int class = -1;
	OK(MPI_Error_class(code, &class));
	return class;
}

static int last_used(void)
{
	int *last = NULL, flag = 0;
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
	CHECK(flag && last && *last >= MPI_ERR_LASTCODE);
	return flag && last ? *last : -1;
}

static void added(void)
{
	int class = -1, other = -1, code = -1, before = last_used(), n = -1;
	char text[MPI_MAX_ERROR_STRING] = "x";
	OK(MPI_Add_error_class(&class));
	CHECK(class > MPI_ERR_LASTCODE && class != before);
	CHECK(last_used() >= class);
	OK(MPI_Add_error_code(class, &code));
	CHECK(code != class && class_of(code) == class && class_of(class) == class);
	OK(MPI_Error_string(code, text, &n));
	CHECK(n == 0 && text[0] == 0);
	OK(MPI_Add_error_string(code, "the kettle is empty"));
	OK(MPI_Add_error_string(class, "no tea"));
	OK(MPI_Error_string(code, text, &n));
	CHECK(!strcmp(text, "the kettle is empty") && n == (int)strlen(text));
	OK(MPI_Error_string(class, text, &n));
	CHECK(!strcmp(text, "no tea"));
	OK(MPI_Add_error_code(MPI_ERR_OTHER, &other));
	CHECK(class_of(other) == MPI_ERR_OTHER);

	OK(MPI_Remove_error_string(code));
	OK(MPI_Error_string(code, text, &n));
	CHECK(n == 0);
	OK(MPI_Remove_error_code(code));
	OK(MPI_Remove_error_code(other));
	OK(MPI_Remove_error_string(class));
	OK(MPI_Remove_error_class(class));
}

static void predefined(void)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int n = -1, class, code;
	for (class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++) {
		CHECK(class_of(class) == class);
		OK(MPI_Error_string(class, text, &n));
		CHECK(n > 0 && n == (int)strlen(text));
	}
	code = MPI_Send(NULL, 0, MPI_INT, check_size, 0, MPI_COMM_WORLD);
	CHECK(code != MPI_SUCCESS && class_of(code) == MPI_ERR_RANK);
	OK(MPI_Error_string(code, text, &n));
	CHECK(n > 0 && n == (int)strlen(text));
}

static void refused(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING], longer[2 * MPI_MAX_ERROR_STRING];
	int n, class = 0, code = 0;
	MPI_Get_library_version(version, &n);
	if (strncmp(version, "Weft", 4))
		return; /* which looks at more */
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = 0;
	OK(MPI_Add_error_class(&class));
	CHECK_CLASS(MPI_Add_error_string(class, longer), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Add_error_code(4711, &code), MPI_ERR_ARG);
	OK(MPI_Add_error_code(class, &code));
	CHECK_CLASS(MPI_Remove_error_class(class), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_RANK), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Remove_error_code(class), MPI_ERR_ARG);
	OK(MPI_Remove_error_code(code));
	OK(MPI_Remove_error_class(class));
	CHECK_CLASS(MPI_Add_error_code(class, &code), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Error_class(4711, &class), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Error_class(-1, &class), MPI_ERR_ARG);
	CHECK_CLASS(MPI_Error_class(MPI_ERR_RANK, NULL), MPI_ERR_ARG);
}

/* What a program may ask at any time. */
static void versions(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int a = -1, b = -1, n = -1;
	OK(MPI_Get_version(&a, &b));
	CHECK(a == MPI_VERSION && b == MPI_SUBVERSION);
	OK(MPI_Abi_get_version(&a, &b));
	CHECK(a == MPI_ABI_VERSION && b == MPI_ABI_SUBVERSION);
	OK(MPI_Get_library_version(text, &n));
	CHECK(n > 0 && n == (int)strlen(text));
}

static void abi(void)
{
	char text[16] = "";
	int n = sizeof text, yes = 7, no = 7, set = 7, flag = 0;
	MPI_Info info;
	OK(MPI_Abi_get_info(&info));
	OK(MPI_Info_get_string(info, "mpi_count_size", &n, text, &flag));
	CHECK(flag && atoi(text) == (int)sizeof(MPI_Count));
	OK(MPI_Info_free(&info));
	OK(MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &set));
	CHECK(set ? yes != no : yes == 7 && no == 7);
	OK(MPI_Abi_get_fortran_info(&info));
	if (info != MPI_INFO_NULL)
		OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	int n = -1;
	versions();
	check_init(&argc, &argv);
	versions();
	abi();
	predefined();
	added();
	refused();
	OK(MPI_Get_processor_name(name, &n));
	CHECK(n > 0 && n == (int)strlen(name));
	OK(MPI_Pcontrol(1));
	OK(MPI_Pcontrol(2, "anything", 3.0));
	return check_end();
}
