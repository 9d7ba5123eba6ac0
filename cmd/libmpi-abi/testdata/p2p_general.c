/* ranks: 1 2
 *
 * Generalized requests: which of their functions is called when, and what their statuses and
 * errors become.
 */
#include "check.h"
#include <pthread.h>

struct operation {
	int queries, frees, cancels, complete; /* how often, and what cancel was told */
	int code;                              /* what query returns */
	int cancelled;
};

static int query(void *extra, MPI_Status *status)
{
	struct operation *o = extra;
	o->queries++;
	MPI_Status_set_elements(status, MPI_INT, 3);
	MPI_Status_set_cancelled(status, o->cancelled);
	status->MPI_SOURCE = 5;
	status->MPI_TAG = 6;
	return o->code;
}

static int release(void *extra)
{
	((struct operation *)extra)->frees++;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	struct operation *o = extra;
	o->cancels++;
	o->complete = complete;
	return MPI_SUCCESS;
}

static void told(const MPI_Status *s, int cancelled)
{
	int count = 0, flag = -1;
	OK(MPI_Get_count(s, MPI_INT, &count));
	OK(MPI_Test_cancelled(s, &flag));
	CHECK(count == 3 && flag == cancelled && s->MPI_SOURCE == 5 && s->MPI_TAG == 6);
}

static void *end(void *request)
{
	OK(MPI_Grequest_complete(*(MPI_Request *)request));
	return NULL;
}

static void one(void)
{
	struct operation o = {0};
	MPI_Request r, copy;
	MPI_Status s;
	pthread_t thread;
	int flag = 1;
	OK(MPI_Grequest_start(query, release, cancel, &o, &r));
	OK(MPI_Test(&r, &flag, &s));
	CHECK(!flag && o.queries == 0 && r != MPI_REQUEST_NULL);
	copy = r;
	pthread_create(&thread, NULL, end, &copy);
	OK(MPI_Wait(&r, &s));
	pthread_join(thread, NULL);
	told(&s, 0);
	CHECK(r == MPI_REQUEST_NULL && o.queries == 1 && o.frees == 1 && o.cancels == 0);

	o = (struct operation){0};
	OK(MPI_Grequest_start(query, release, cancel, &o, &r));
	OK(MPI_Grequest_complete(r));
	OK(MPI_Request_get_status(r, &flag, &s));
	CHECK(flag && o.queries == 1 && o.frees == 0);
	told(&s, 0);
	OK(MPI_Test(&r, &flag, &s));
	CHECK(flag && r == MPI_REQUEST_NULL && o.queries == 2 && o.frees == 1);
}

static void cancels(void)
{
	struct operation o = {0};
	MPI_Request r;
	MPI_Status s;
	OK(MPI_Grequest_start(query, release, cancel, &o, &r));
	OK(MPI_Cancel(&r));
	CHECK(o.cancels == 1 && !o.complete);
	o.cancelled = 1;
	OK(MPI_Grequest_complete(r));
	OK(MPI_Cancel(&r));
	CHECK(o.cancels == 2 && o.complete);
	OK(MPI_Wait(&r, &s));
	told(&s, 1);
}

/* Freed before and behind its end: free is called by the later of the two. */
static void given_up(void)
{
	struct operation o = {0};
	MPI_Request r, copy;
	OK(MPI_Grequest_start(query, release, cancel, &o, &r));
	copy = r;
	OK(MPI_Request_free(&r));
	CHECK(r == MPI_REQUEST_NULL && o.frees == 0);
	OK(MPI_Grequest_complete(copy));
	CHECK(o.queries == 0 && o.frees == 1);

	OK(MPI_Grequest_start(query, release, cancel, &o, &r));
	OK(MPI_Grequest_complete(r));
	OK(MPI_Request_free(&r));
	CHECK(r == MPI_REQUEST_NULL && o.frees == 2 && o.queries == 0);
}

static void several(void)
{
	struct operation o[3] = {{0}, {.code = MPI_ERR_OTHER}, {0}};
	MPI_Request r[4];
	MPI_Status s[4];
	int x = 0, index = 0, count = 0, indices[4];
	for (int i = 0; i < 3; i++)
		OK(MPI_Grequest_start(query, release, cancel, &o[i], &r[i]));
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r[3]));
	OK(MPI_Grequest_complete(r[2]));
	OK(MPI_Waitany(4, r, &index, &s[0]));
	CHECK(index == 2 && r[2] == MPI_REQUEST_NULL && o[2].frees == 1);
	told(&s[0], 0);
	OK(MPI_Grequest_complete(r[0]));
	OK(MPI_Waitsome(4, r, &count, indices, s));
	CHECK(count == 1 && indices[0] == 0 && o[0].frees == 1);
	told(&s[0], 0);
	OK(MPI_Grequest_complete(r[1]));
	OK(MPI_Send(&index, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
	CHECK_CLASS(MPI_Waitall(4, r, s), MPI_ERR_IN_STATUS);
	CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_OTHER);
	if (r[3] != MPI_REQUEST_NULL && s[3].MPI_ERROR == MPI_ERR_PENDING)
		OK(MPI_Wait(&r[3], &s[3])); /* MPI lets a call end early */
	else
		CHECK_CLASS(s[3].MPI_ERROR, MPI_SUCCESS);
	CHECK(s[3].MPI_TAG == 2 && x == index && o[1].frees == 1);

	o[1] = (struct operation){.code = MPI_ERR_OTHER};
	OK(MPI_Grequest_start(query, release, cancel, &o[1], &r[1]));
	OK(MPI_Grequest_complete(r[1]));
	CHECK_CLASS(MPI_Wait(&r[1], &s[0]), MPI_ERR_OTHER);
	CHECK(o[1].queries == 1);
}

int main(int argc, char **argv)
{
	MPI_Request r = MPI_REQUEST_NULL;
	int x;
	check_init(&argc, &argv);
	one();
	cancels();
	given_up();
	several();
	CHECK(MPI_Grequest_complete(r) != MPI_SUCCESS);
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r));
	CHECK(MPI_Grequest_complete(r) != MPI_SUCCESS);
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	return check_end();
}
