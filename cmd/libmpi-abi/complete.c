/* Calls that complete requests, where these have completed in their own call or are null:
 * then there is nothing to ask for in Go. */
#include "weft.h"
#include "check.h"

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

/* finished completes all requests of a list, or none if there is anything else in the way. */
static int finished(int count, MPI_Request *requests, MPI_Status *statuses)
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

/* ask has Go make a call whose words are set, and whose errors are of no object. */
static int ask(struct weft_args *a, int function, const char *call)
{
	weft_about(a, WEFT_NONE, 0, 0);
	if (weft_ready())
		return weft_raise(a, MPI_ERR_OTHER, call);
	return weft_answer(a, function, call);
}

MPI_API(Wait, MPI_Request *request, MPI_Status *status)
{
	struct weft_args a;
	if (finished(1, request, status))
		return MPI_SUCCESS;
	a.word[0] = W(request);
	a.word[1] = W(status);
	return ask(&a, weft_fn_Wait, "MPI_Wait");
}

MPI_API(Waitall, int count, MPI_Request requests[], MPI_Status statuses[])
{
	struct weft_args a;
	if (finished(count, requests, statuses))
		return MPI_SUCCESS;
	a.word[0] = N(count);
	a.word[1] = W(requests);
	a.word[2] = W(statuses);
	return ask(&a, weft_fn_Waitall, "MPI_Waitall");
}
