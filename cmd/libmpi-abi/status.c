/* Statuses (MPI-5.0 §3.2.5). What is inside of one is laid out in internal/capi: whether the
 * operation was cancelled comes first. */
#include "weft.h"

/* about is MPI_SUCCESS if there is a status and a place for what is asked of it. */
static int about(const void *status, const void *out, const char *call)
{
	return status && out ? MPI_SUCCESS : weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, call);
}

MPI_API(Status_get_source, const MPI_Status *status, int *source)
{
	int code = about(status, source, "MPI_Status_get_source");
	if (!code)
		*source = status->MPI_SOURCE;
	return code;
}

MPI_API(Status_get_tag, const MPI_Status *status, int *tag)
{
	int code = about(status, tag, "MPI_Status_get_tag");
	if (!code)
		*tag = status->MPI_TAG;
	return code;
}

MPI_API(Status_get_error, const MPI_Status *status, int *error)
{
	int code = about(status, error, "MPI_Status_get_error");
	if (!code)
		*error = status->MPI_ERROR;
	return code;
}

MPI_API(Test_cancelled, const MPI_Status *status, int *flag)
{
	int code = about(status, flag, "MPI_Test_cancelled");
	if (!code)
		*flag = status->MPI_internal[0] != 0;
	return code;
}

MPI_API(Status_set_source, MPI_Status *status, int source)
{
	int code = about(status, status, "MPI_Status_set_source");
	if (!code)
		status->MPI_SOURCE = source;
	return code;
}

MPI_API(Status_set_tag, MPI_Status *status, int tag)
{
	int code = about(status, status, "MPI_Status_set_tag");
	if (!code)
		status->MPI_TAG = tag;
	return code;
}

MPI_API(Status_set_error, MPI_Status *status, int error)
{
	int code = about(status, status, "MPI_Status_set_error");
	if (!code)
		status->MPI_ERROR = error;
	return code;
}

MPI_API(Status_set_cancelled, MPI_Status *status, int flag)
{
	int code = about(status, status, "MPI_Status_set_cancelled");
	if (!code)
		status->MPI_internal[0] = flag != 0;
	return code;
}
