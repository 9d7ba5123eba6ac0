/* The functions of generalized requests, which are the program's (MPI-5.0 §13.2), and
 * requests as integers. */
#include "weft.h"

extern uint64_t weft_whole_request(uint32_t low);

int weft_call_query(uintptr_t function, uintptr_t extra, void *status)
{
	return ((MPI_Grequest_query_function *)function)((void *)extra, status);
}

int weft_call_free(uintptr_t function, uintptr_t extra)
{
	return ((MPI_Grequest_free_function *)function)((void *)extra);
}

int weft_call_cancel(uintptr_t function, uintptr_t extra, int complete)
{
	return ((MPI_Grequest_cancel_function *)function)((void *)extra, complete);
}

/* The integer of a request is the low half of its handle. */
MPI_API_OF(int, Request_toint, MPI_Request request) { return (int)W(request); }

MPI_API_OF(MPI_Request, Request_fromint, int request)
{
	return (MPI_Request)(uintptr_t)weft_whole_request((uint32_t)request);
}
