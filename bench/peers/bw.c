/* Rank 0 sends windows of messages to rank 1, which answers each window with
 * four bytes. */
#include "ddt.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_BW, "m:i:x:W:D:", MPI_THREAD_SINGLE, 2);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	MPI_Request *reqs = malloc(osu.window * sizeof *reqs);
	MPI_Status *stats = malloc(osu.window * sizeof *stats);
	char **packed = osu_packed(osu.window);

	osu_preamble("Bandwidth");
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
			if (osu_rank == 0) {
				if (i >= skip)
					start = MPI_Wtime();
				osu_isends(out, packed, 1, 100, reqs);
				MPI_Waitall(osu.window, reqs, stats);
				MPI_Recv(in, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, stats);
				if (i >= skip)
					total += MPI_Wtime() - start;
			} else {
				osu_irecvs(in, packed, 0, 100, reqs);
				osu_received(in, packed, reqs, stats);
				MPI_Send(out, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
			}
		}
		osu_row(size, osu_message.sent / 1e6 * iters * osu.window / total);
	}
	osu_finish();
}
