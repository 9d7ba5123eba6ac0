/* Ranks 0 and 1 send each other windows of messages at once; what both sent
 * counts. */
#include "osu.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_BW, "m:i:x:W:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	MPI_Request *sends = malloc(osu.window * sizeof *sends);
	MPI_Request *recvs = malloc(osu.window * sizeof *recvs);
	MPI_Status *stats = malloc(osu.window * sizeof *stats);
	int peer = 1 - osu_rank;
	int out_tag = osu_rank == 0 ? 100 : 10, in_tag = osu_rank == 0 ? 10 : 100;

	osu_preamble("Bi-Directional Bandwidth");
	osu_datatype();
	osu_heads("# Size", "Bandwidth (MB/s)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		osu_counts(size, &iters, &skip);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			if (i >= skip)
				start = MPI_Wtime();
			for (int j = 0; j < osu.window; j++)
				MPI_Irecv(in, size, MPI_CHAR, peer, in_tag, MPI_COMM_WORLD, recvs + j);
			for (int j = 0; j < osu.window; j++)
				MPI_Isend(out, size, MPI_CHAR, peer, out_tag, MPI_COMM_WORLD, sends + j);
			/* Rank 0 waits for what it sent first, rank 1 for what it receives. */
			MPI_Waitall(osu.window, osu_rank == 0 ? sends : recvs, stats);
			MPI_Waitall(osu.window, osu_rank == 0 ? recvs : sends, stats);
			if (i >= skip)
				total += MPI_Wtime() - start;
		}
		osu_row(size, size / 1e6 * iters * osu.window * 2 / total);
	}
	osu_finish();
}
