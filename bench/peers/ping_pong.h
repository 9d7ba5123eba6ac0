/* The ping-pong of ranks 0 and 1 by post(out, size, peer) and take(in, size,
 * peer), which the program defines before it includes this. The compiler puts
 * both in its loop, so what is timed is as if written out. */
#include "ddt.h"

static void ping_pong(void)
{
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	int peer = 1 - osu_rank;

	osu_datatype();
	osu_heads("# Size", "Avg Latency(us)", NULL);
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
				post(out, size, peer);
				take(in, size, peer);
				if (i >= skip)
					total += MPI_Wtime() - start;
			} else {
				take(in, size, peer);
				post(out, size, peer);
			}
		}
		osu_row(size, total * 1e6 / (2.0 * iters));
	}
}
