/* Waits for requests that have completed in their own call or are null: then there is nothing
 * to ask for in Go. */
#include "weft.h"

/* Package capi has the same number. */
#define DONE ((uint64_t)1 << 32 | (uint64_t)WEFT_REQUEST << 27 | ((1u << 27) - 1))

static void finish(MPI_Request *request, MPI_Status *status)
{
	*request = MPI_REQUEST_NULL;
	if (!status)
		return;
	status->MPI_SOURCE = MPI_ANY_SOURCE;
	status->MPI_TAG = MPI_ANY_TAG;
	status->MPI_internal[0] = status->MPI_internal[1] = status->MPI_internal[2] = 0;
}

int weft_quick_Wait(MPI_Request *request, MPI_Status *status) { return weft_quick_Waitall(1, request, status); }

int weft_quick_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
	if (weft_ready() || !requests || count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		if (W(requests[i]) != DONE && requests[i] != MPI_REQUEST_NULL)
			return 0;
	}
	for (int i = 0; i < count; i++)
		finish(&requests[i], statuses ? &statuses[i] : NULL);
	return 1;
}
