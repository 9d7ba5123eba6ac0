/* Ping-pong by persistent requests between ranks 0 and 1: the mean one-way time of a message. */
#include "osu.h"

static void begin(MPI_Request *r)
{
	MPI_Start(r);
	MPI_Wait(r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_LAT, "m:i:x:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	int peer = 1 - osu_rank;

	osu_preamble("Latency Persistent");
	osu_datatype();
	osu_heads("# Size", "Avg Latency(us)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		MPI_Request send, recv;
		osu_counts(size, &iters, &skip);
		MPI_Send_init(out, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &send);
		MPI_Recv_init(in, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &recv);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			if (osu_rank == 0) {
				if (i >= skip)
					start = MPI_Wtime();
				begin(&send);
				begin(&recv);
				if (i >= skip)
					total += MPI_Wtime() - start;
			} else {
				begin(&recv);
				begin(&send);
			}
		}
		MPI_Request_free(&send);
		MPI_Request_free(&recv);
		osu_row(size, total * 1e6 / (2.0 * iters));
	}
	osu_finish();
}
