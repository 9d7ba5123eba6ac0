/* Rank 0 sends windows of persistent sends to rank 1, which answers each window with
 * four bytes. */
#include "osu.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_BW, "m:i:x:W:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	MPI_Request *reqs = malloc(osu.window * sizeof *reqs);
	MPI_Status *stats = malloc(osu.window * sizeof *stats);

	osu_preamble("Bandwidth Persistent");
	osu_datatype();
	osu_heads("# Size", "Bandwidth (MB/s)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		osu_counts(size, &iters, &skip);
		for (int j = 0; j < osu.window; j++)
			if (osu_rank == 0)
				MPI_Send_init(out, size, MPI_CHAR, 1, 100, MPI_COMM_WORLD, reqs + j);
			else
				MPI_Recv_init(in, size, MPI_CHAR, 0, 100, MPI_COMM_WORLD, reqs + j);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			if (osu_rank == 0) {
				if (i >= skip)
					start = MPI_Wtime();
				MPI_Startall(osu.window, reqs);
				MPI_Waitall(osu.window, reqs, stats);
				MPI_Recv(in, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, stats);
				if (i >= skip)
					total += MPI_Wtime() - start;
			} else {
				MPI_Startall(osu.window, reqs);
				MPI_Waitall(osu.window, reqs, stats);
				MPI_Send(out, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
			}
		}
		for (int j = 0; j < osu.window; j++)
			MPI_Request_free(reqs + j);
		osu_row(size, size / 1e6 * iters * osu.window / total);
	}
	osu_finish();
}
