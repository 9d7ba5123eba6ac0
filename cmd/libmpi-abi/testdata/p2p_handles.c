/* ranks: 1 2
 *
 * Handles that are stale, mistaken or null, and pointers that are NULL, are errors, and
 * neither a crash nor a wait. MPICH does not find all of them.
 */
#include "check.h"
#include <stdint.h>

static int x, is_mpich;

#define WIDE _Generic(&MPI_Psend_init, int (*)(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *): 1, default: 0)
#define BAD(call) CHECK((call) != MPI_SUCCESS)

static MPI_Request handle(uint64_t word) { return (MPI_Request)(uintptr_t)word; }

/* Each call with a request that is none. */
static void refused(MPI_Request bad)
{
	MPI_Request r = bad, list[3] = {MPI_REQUEST_NULL, bad, MPI_REQUEST_NULL};
	MPI_Status s[3];
	int flag = 0, i = 0, indices[3];
	CHECK_CLASS(MPI_Wait(&r, s), MPI_ERR_REQUEST);
	CHECK(r == bad);
	CHECK_CLASS(MPI_Test(&r, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_get_status(bad, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_free(&r), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Cancel(&r), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Start(&r), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Startall(1, &r), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitall(3, list, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testall(3, list, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitany(3, list, &i, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testany(3, list, &i, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Waitsome(3, list, &i, indices, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Testsome(3, list, &i, indices, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_get_status_all(3, list, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_get_status_any(3, list, &i, &flag, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Request_get_status_some(3, list, &i, indices, s), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Pready(0, bad), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Pready_range(0, 1, bad), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Pready_list(1, &x, bad), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Parrived(bad, 0, &flag), MPI_ERR_REQUEST);
	CHECK_CLASS(MPI_Grequest_complete(bad), MPI_ERR_REQUEST);
}

static void mistaken(void)
{
	const uint64_t words[] = {0, 1, (uintptr_t)MPI_COMM_WORLD, (uintptr_t)MPI_INT, 4096, 0x5800ull << 16, 11ull << 27, 11ull << 27 | 1ull << 32,
	                          11ull << 27 | 3ull << 32 | 0xffffff, ~0ull, 1ull << 63, 0x7fffffffffffull};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		refused(handle(words[i]));
}

static void stale(void)
{
	MPI_Request r, copy, next;
	MPI_Message m, same;
	MPI_Comm comm, freed;
	MPI_Datatype type, gone;
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	copy = r;
	OK(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	refused(copy);
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &next)); /* in the same place, maybe */
	refused(copy);
	CHECK(MPI_Request_fromint(MPI_Request_toint(next)) == next);
	CHECK(MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
	copy = next;
	int number = MPI_Request_toint(next);
	OK(MPI_Cancel(&next));
	OK(MPI_Wait(&next, MPI_STATUS_IGNORE));
	refused(MPI_Request_fromint(number));
	refused(copy);

	OK(MPI_Recv_init(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	copy = r;
	OK(MPI_Request_free(&r));
	refused(copy);

	OK(MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
	OK(MPI_Mprobe(0, 1, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE));
	same = m;
	OK(MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	BAD(MPI_Mrecv(&x, 1, MPI_INT, &same, MPI_STATUS_IGNORE));
	BAD(MPI_Imrecv(&x, 1, MPI_INT, &same, &r));

	OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
	freed = comm;
	OK(MPI_Comm_free(&comm));
	CHECK_CLASS(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, freed), MPI_ERR_COMM);
	CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, 0, 1, freed, &r), MPI_ERR_COMM);
	OK(MPI_Type_contiguous(1, MPI_INT, &type));
	CHECK_CLASS(MPI_Send(&x, 1, type, MPI_PROC_NULL, 1, MPI_COMM_SELF), MPI_ERR_TYPE); /* not committed */
	gone = type;
	OK(MPI_Type_free(&type));
	CHECK_CLASS(MPI_Send(&x, 1, gone, MPI_PROC_NULL, 1, MPI_COMM_SELF), MPI_ERR_TYPE);
}

/* The same request twice, and counts and memory that no program has. */
static void lists(void)
{
	MPI_Request r[2];
	MPI_Status s[2];
	OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]));
	r[1] = r[0];
	BAD(MPI_Waitall(2, r, s));
	r[1] = r[0];
	if (r[0] != MPI_REQUEST_NULL) {
		OK(MPI_Cancel(&r[0]));
		OK(MPI_Wait(&r[0], s));
	}
	const MPI_Count huge[] = {(MPI_Count)1 << 40, (MPI_Count)1 << 60, (MPI_Count)1 << 61, INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
		BAD(MPI_Send_c(NULL, huge[i], MPI_DOUBLE, 0, 1, MPI_COMM_SELF));
	BAD(MPI_Psend_init(NULL, 1 << 30, INT32_MAX, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r));
	BAD(MPI_Recv(NULL, 3, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, s));
	BAD(MPI_Send(MPI_IN_PLACE, 3, MPI_DOUBLE, 0, 1, MPI_COMM_SELF));
	BAD(MPI_Psend_init(&x, 0, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r));
	BAD(MPI_Psend_init(&x, -1, -1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r));
	BAD(MPI_Buffer_attach(NULL, 100));
	BAD(MPI_Buffer_attach(&x, -1));
	BAD(MPI_Buffer_attach_c(&x, INT64_MAX));
	BAD(MPI_Buffer_attach_c((void *)-4096, INT64_MAX));
	if (WIDE) /* the function has an int in MPICH's header */
		BAD(MPI_Psend_init(&x, 4, -((MPI_Count)1 << 62), MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, r));
}

static void null_pointers(void)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s;
	int flag, i;
	BAD(MPI_Wait(NULL, &s));
	BAD(MPI_Test(NULL, &flag, &s));
	BAD(MPI_Test(&r, NULL, &s));
	BAD(MPI_Request_free(NULL));
	BAD(MPI_Cancel(NULL));
	BAD(MPI_Start(NULL));
	BAD(MPI_Startall(1, NULL));
	BAD(MPI_Waitall(1, NULL, &s));
	BAD(MPI_Waitall(-1, &r, &s));
	BAD(MPI_Testall(1, &r, NULL, &s));
	BAD(MPI_Waitany(1, &r, NULL, &s));
	BAD(MPI_Testany(1, &r, &i, NULL, &s));
	BAD(MPI_Waitsome(1, &r, NULL, &i, &s));
	BAD(MPI_Testsome(1, &r, &i, NULL, &s));
	BAD(MPI_Isend(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, NULL));
	BAD(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, NULL));
	BAD(MPI_Iprobe(0, 1, MPI_COMM_SELF, NULL, &s));
	BAD(MPI_Mprobe(0, 1, MPI_COMM_SELF, NULL, &s));
	BAD(MPI_Mrecv(&x, 1, MPI_INT, NULL, &s));
	BAD(MPI_Buffer_detach(NULL, &i));
	BAD(MPI_Buffer_detach(&r, NULL));
	BAD(MPI_Buffer_iflush(NULL));
	BAD(MPI_Grequest_start(NULL, NULL, NULL, NULL, NULL));
}

int main(int argc, char **argv)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;
	MPI_Request r = MPI_REQUEST_NULL;
	check_init(&argc, &argv);
	OK(MPI_Get_library_version(version, &length));
	is_mpich = strncmp(version, "MPICH", 5) == 0;
	BAD(MPI_Start(&r));
	BAD(MPI_Cancel(&r));
	BAD(MPI_Request_free(&r));
	if (!is_mpich) {
		mistaken();
		stale();
		lists();
		null_pointers();
	}
	return check_end();
}
