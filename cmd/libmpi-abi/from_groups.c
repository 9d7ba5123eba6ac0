/* The calls that make a communicator of groups, and are about no object that has an error
 * handler: the one that the communicator is to have sees their errors as well. */
#include "weft.h"

/* make makes a communicator by a function of Go. */
static int make(int function, struct weft_args *a, MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *out, const char *call)
{
	int code = weft_handler_fits(W(errhandler), WEFT_COMM);
	if (code)
		return weft_raise(a, code, call);
	code = weft_check(WEFT_GROUP, W(group));
	if (!code && info != MPI_INFO_NULL && !weft_find(WEFT_INFO, W(info)))
		code = MPI_ERR_INFO;
	if (!code && (!tag || !out))
		code = MPI_ERR_ARG;
	if (!code)
		code = weft_go(function, a);
	return code ? weft_raise_by(W(errhandler), WEFT_COMM, W(MPI_COMM_NULL), code, call) : MPI_SUCCESS;
}

MPI_API(Comm_create_from_group, MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
	struct weft_args a = {.word = {W(group), W(stringtag), W(info), W(errhandler), W(newcomm)}};
	return make(weft_fn_Comm_create_from_group, &a, group, stringtag, info, errhandler, newcomm, "MPI_Comm_create_from_group");
}

/* The other arguments count at the leader only, which Go knows. */
MPI_API(Intercomm_create_from_groups, MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
        MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
	struct weft_args a = {.word = {W(local_group), (uint64_t)(int64_t)local_leader, W(remote_group), (uint64_t)(int64_t)remote_leader, W(stringtag), W(info), W(errhandler), W(newintercomm)}};
	return make(weft_fn_Intercomm_create_from_groups, &a, local_group, stringtag, info, errhandler, newintercomm, "MPI_Intercomm_create_from_groups");
}
