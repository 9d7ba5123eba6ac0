/* The interface for tools where there are no variables, categories and events, and in other
 * libraries where there are some.
 *     ranks: 1
 */
#include "check.h"

static int variables, counters, categories;

static void check_numbers(void)
{
	int n;
	OK(MPI_T_cvar_get_num(&variables));
	OK(MPI_T_pvar_get_num(&counters));
	OK(MPI_T_category_get_num(&categories));
	OK(MPI_T_category_changed(&n));
	OK(MPI_T_event_get_num(&n));
	CHECK(variables >= 0 && counters >= 0 && categories >= 0 && n >= 0);
}

static void check_names(void)
{
	int i, at, len = 0, more = 0;
	MPI_T_cvar_handle cvar;
	MPI_T_enum values;
	MPI_Datatype type;
	CHECK(MPI_T_cvar_get_info(variables, NULL, &len, &i, &type, &values, NULL, &more, &i, &i) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_cvar_handle_alloc(variables, NULL, &cvar, &i) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_cvar_get_index("no variable", &at) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_pvar_get_index("no variable", MPI_T_PVAR_CLASS_COUNTER, &at) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_category_get_info(categories, NULL, &len, NULL, &more, &i, &i, &i) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_category_get_cvars(categories, 1, &at) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_category_get_index("no category", &at) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_event_get_index("no event", &at) == MPI_T_ERR_INVALID_NAME);
}

static void check_sessions(void)
{
	MPI_T_pvar_session a, b, none = MPI_T_PVAR_SESSION_NULL;
	OK(MPI_T_pvar_session_create(&a));
	OK(MPI_T_pvar_session_create(&b));
	CHECK(a != b && a != MPI_T_PVAR_SESSION_NULL);
	OK(MPI_T_pvar_session_free(&a));
	CHECK(a == MPI_T_PVAR_SESSION_NULL);
	CHECK(MPI_T_pvar_session_free(&none) == MPI_T_ERR_INVALID_SESSION);
	OK(MPI_T_pvar_session_free(&b));
}

/* MPI-5.0 defines these, and other libraries crash. */
static void check_mistakes(void)
{
	MPI_T_pvar_session s, old;
	MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
	MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
	MPI_Count when;
	int i, len = 0;
	CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
	OK(MPI_T_pvar_session_create(&s));
	OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
	OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
	OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
	CHECK(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &i) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_pvar_handle_alloc(s, counters, NULL, &handle, &i) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_pvar_handle_free(s, &handle) == MPI_T_ERR_INVALID_HANDLE);
	old = s;
	OK(MPI_T_pvar_session_free(&s));
	CHECK(MPI_T_pvar_start(old, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
	CHECK(MPI_T_cvar_read(cvar, &i) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_cvar_handle_free(&cvar) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &i, NULL, &len) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_source_get_timestamp(0, &when) == MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char **argv)
{
	int provided = -1, n, others;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	OK(MPI_Get_library_version(version, &n));
	others = strstr(version, "MPICH") || strstr(version, "Open MPI");
	if (!others) {
		CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
		CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
		CHECK(MPI_T_pvar_session_create(&(MPI_T_pvar_session){0}) == MPI_T_ERR_NOT_INITIALIZED);
	}
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
	CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
	CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
	check_numbers(); /* before MPI_Init */
	check_init(&argc, &argv);
	check_numbers();
	check_names();
	check_sessions();
	if (!others)
		check_mistakes();
	OK(MPI_T_finalize());
	check_numbers();
	check_end();
	check_sessions(); /* and after MPI_Finalize */
	CHECK(MPI_T_finalize() == MPI_SUCCESS);
	if (!others)
		CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	return check_failures ? 1 : 0;
}
