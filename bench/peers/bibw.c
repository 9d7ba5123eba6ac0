/* Ranks 0 and 1 send each other windows of messages at once; what both sent
 * counts. */
#include "ddt.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_BW, "m:i:x:W:D:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	MPI_Request *sends = malloc(osu.window * sizeof *sends);
	MPI_Request *recvs = malloc(osu.window * sizeof *recvs);
	MPI_Status *stats = malloc(osu.window * sizeof *stats);
	char **packed_out = osu_packed(osu.window), **packed_in = osu_packed(osu.window);
	int peer = 1 - osu_rank;
	int out_tag = osu_rank == 0 ? 100 : 10, in_tag = osu_rank == 0 ? 10 : 100;

	osu_preamble("Bi-Directional Bandwidth");
	osu_datatype();
	osu_heads("# Size", "Bandwidth (MB/s)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		int iters, skip;
		double start = 0, total = 0;
		if (!osu_message_in(size))
			continue;
		osu_counts(size, &iters, &skip);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < iters + skip; i++) {
			if (i >= skip)
				start = MPI_Wtime();
			osu_irecvs(in, packed_in, peer, in_tag, recvs);
			osu_isends(out, packed_out, peer, out_tag, sends);
			/* Rank 0 waits for what it sent first, rank 1 for what it receives. */
			if (osu_rank == 0)
				MPI_Waitall(osu.window, sends, stats);
			osu_received(in, packed_in, recvs, stats);
			if (osu_rank != 0)
				MPI_Waitall(osu.window, sends, stats);
			if (i >= skip)
				total += MPI_Wtime() - start;
		}
		osu_row(size, osu_message.sent / 1e6 * iters * osu.window * 2 / total);
	}
	osu_finish();
}
