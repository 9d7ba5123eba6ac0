/* The interface for tools (MPI-5.0 chapter 15). The library has no variables, categories, events
 * and sources of events, which the standard allows: their numbers are 0, so each name, index
 * and handle is one of nothing. Sessions of performance variables can be made all the same.
 * No call here has an error handler. */
#include "weft.h"

/* Hardly any argument is looked at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static _Atomic int users; /* calls of MPI_T_init_thread without one of MPI_T_finalize */

/* A session is the address of its place. */
static struct { _Atomic char taken; } sessions[1024];
enum { SESSIONS = sizeof sessions / sizeof *sessions };

static int answer(int code)
{
	return users > 0 ? code : MPI_T_ERR_NOT_INITIALIZED;
}

static int number(int *n)
{
	if (users > 0 && n)
		*n = 0;
	return answer(n ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}

static int of_session(MPI_T_pvar_session session, int code)
{
	uintptr_t i = ((uintptr_t)session - (uintptr_t)sessions) / sizeof *sessions;
	return answer(i < SESSIONS && sessions[i].taken ? code : MPI_T_ERR_INVALID_SESSION);
}

MPI_API(T_init_thread, int required, int *provided)
{
	if (!provided)
		return MPI_T_ERR_INVALID;
	*provided = required < MPI_THREAD_SINGLE ? MPI_THREAD_SINGLE : required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
	users++;
	return MPI_SUCCESS;
}

MPI_API(T_finalize, void)
{
	int n = users;
	do {
		if (n == 0)
			return MPI_T_ERR_NOT_INITIALIZED;
	} while (!atomic_compare_exchange_weak(&users, &n, n - 1));
	for (int i = 0; n == 1 && i < SESSIONS; i++)
		sessions[i].taken = 0;
	return MPI_SUCCESS;
}

MPI_API(T_pvar_session_create, MPI_T_pvar_session *session)
{
	if (answer(MPI_SUCCESS) || !session)
		return answer(MPI_T_ERR_INVALID);
	for (int i = 0; i < SESSIONS; i++) {
		char taken = 0;
		if (atomic_compare_exchange_strong(&sessions[i].taken, &taken, 1)) {
			*session = (MPI_T_pvar_session)&sessions[i];
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_OUT_OF_SESSIONS;
}

MPI_API(T_pvar_session_free, MPI_T_pvar_session *session)
{
	int code = session ? of_session(*session, MPI_SUCCESS) : answer(MPI_T_ERR_INVALID);
	if (code == MPI_SUCCESS) {
		*(_Atomic char *)*session = 0;
		*session = MPI_T_PVAR_SESSION_NULL;
	}
	return code;
}

/* Control variables */
MPI_API(T_cvar_get_index, const char *name, int *cvar_index) { return answer(MPI_T_ERR_INVALID_NAME); }
MPI_API(T_cvar_get_info, int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_cvar_get_num, int *num_cvar) { return number(num_cvar); }
MPI_API(T_cvar_handle_alloc, int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_cvar_handle_free, MPI_T_cvar_handle *handle) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_cvar_read, MPI_T_cvar_handle handle, void *buf) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_cvar_write, MPI_T_cvar_handle handle, const void *buf) { return answer(MPI_T_ERR_INVALID_HANDLE); }

/* Performance variables */
MPI_API(T_pvar_get_index, const char *name, int var_class, int *pvar_index) { return answer(MPI_T_ERR_INVALID_NAME); }
MPI_API(T_pvar_get_info, int pvar_index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous, int *atomic) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_pvar_get_num, int *num_pvar) { return number(num_pvar); }
MPI_API(T_pvar_handle_alloc, MPI_T_pvar_session session, int pvar_index, void *obj_handle, MPI_T_pvar_handle *handle, int *count) { return of_session(session, MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_pvar_handle_free, MPI_T_pvar_session session, MPI_T_pvar_handle *handle) { return of_session(session, MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_read, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf) { return of_session(session, MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_readreset, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf) { return of_session(session, MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_reset, MPI_T_pvar_session session, MPI_T_pvar_handle handle) { return of_session(session, handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_start, MPI_T_pvar_session session, MPI_T_pvar_handle handle) { return of_session(session, handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_stop, MPI_T_pvar_session session, MPI_T_pvar_handle handle) { return of_session(session, handle == MPI_T_PVAR_ALL_HANDLES ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_pvar_write, MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf) { return of_session(session, MPI_T_ERR_INVALID_HANDLE); }

/* Enumerations */
MPI_API(T_enum_get_info, MPI_T_enum enumtype, int *num, char *name, int *name_len) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_enum_get_item, MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len) { return answer(MPI_T_ERR_INVALID_HANDLE); }

/* Categories */
MPI_API(T_category_changed, int *update_number) { return number(update_number); }
MPI_API(T_category_get_categories, int cat_index, int len, int indices[]) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_category_get_cvars, int cat_index, int len, int indices[]) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_category_get_events, int cat_index, int len, int indices[]) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_category_get_index, const char *name, int *cat_index) { return answer(MPI_T_ERR_INVALID_NAME); }
MPI_API(T_category_get_info, int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int *num_pvars, int *num_categories) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_category_get_num, int *num_cat) { return number(num_cat); }
MPI_API(T_category_get_num_events, int cat_index, int *num_events) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_category_get_pvars, int cat_index, int len, int indices[]) { return answer(MPI_T_ERR_INVALID_INDEX); }

/* Events */
MPI_API(T_event_callback_get_info, MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info *info_used) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_callback_set_info, MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_copy, MPI_T_event_instance event_instance, void *buffer) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_get_index, const char *name, int *event_index) { return answer(MPI_T_ERR_INVALID_NAME); }
MPI_API(T_event_get_info, int event_index, char *name, int *name_len, int *verbosity, MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc, int *desc_len, int *bind) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_event_get_num, int *num_events) { return number(num_events); }
MPI_API(T_event_get_source, MPI_T_event_instance event_instance, int *source_index) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_get_timestamp, MPI_T_event_instance event_instance, MPI_Count *event_timestamp) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_handle_alloc, int event_index, void *obj_handle, MPI_Info info, MPI_T_event_registration *event_registration) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_event_handle_free, MPI_T_event_registration event_registration, void *user_data, MPI_T_event_free_cb_function free_cb_function) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_handle_get_info, MPI_T_event_registration event_registration, MPI_Info *info_used) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_handle_set_info, MPI_T_event_registration event_registration, MPI_Info info) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_read, MPI_T_event_instance event_instance, int element_index, void *buffer) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_register_callback, MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function) { return answer(MPI_T_ERR_INVALID_HANDLE); }
MPI_API(T_event_set_dropped_handler, MPI_T_event_registration event_registration, MPI_T_event_dropped_cb_function dropped_cb_function) { return answer(MPI_T_ERR_INVALID_HANDLE); }

/* Sources of events */
MPI_API(T_source_get_info, int source_index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info) { return answer(MPI_T_ERR_INVALID_INDEX); }
MPI_API(T_source_get_num, int *num_sources) { return number(num_sources); }
MPI_API(T_source_get_timestamp, int source_index, MPI_Count *timestamp) { return answer(MPI_T_ERR_INVALID_INDEX); }
