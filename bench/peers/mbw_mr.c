/* The first half of the ranks each send windows of messages to its partner in
 * the second half, all pairs at once, a barrier before every window. The counts
 * do not fall for large messages. */
#include "osu.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_BW, "m:i:x:W:", MPI_THREAD_SINGLE, 0);
	char *out = osu_buffer(osu.max, 'a'), *in = osu_buffer(osu.max, 'b');
	MPI_Request *reqs = malloc(osu.window * sizeof *reqs);
	MPI_Status *stats = malloc(osu.window * sizeof *stats);
	int pairs = osu_size / 2, sending = osu_rank < pairs;
	int peer = sending ? osu_rank + pairs : osu_rank - pairs;

	if (osu_rank == 0) {
		printf("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n");
		printf("# [ pairs: %d ] [ window size: %d ]\n", pairs, osu.window);
	}
	osu_datatype();
	osu_heads("# Size", "MB/s", "Messages/s");
	for (size_t size = osu.min; size <= osu.max; size *= 2) {
		double start = 0, mine = 0, all = 0;
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < osu.iters + osu.skip; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			if (sending) {
				if (i >= osu.skip)
					start = MPI_Wtime();
				for (int j = 0; j < osu.window; j++)
					MPI_Isend(out, size, MPI_CHAR, peer, 100, MPI_COMM_WORLD, reqs + j);
				MPI_Waitall(osu.window, reqs, stats);
				MPI_Recv(in, 4, MPI_CHAR, peer, 101, MPI_COMM_WORLD, stats);
				if (i >= osu.skip)
					mine += MPI_Wtime() - start;
			} else {
				for (int j = 0; j < osu.window; j++)
					MPI_Irecv(in, size, MPI_CHAR, peer, 100, MPI_COMM_WORLD, reqs + j);
				MPI_Waitall(osu.window, reqs, stats);
				MPI_Send(out, 4, MPI_CHAR, peer, 101, MPI_COMM_WORLD);
			}
		}
		/* Only the senders timed: their mean time stands for the run. */
		MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		double bw = size / 1e6 * pairs * osu.iters * osu.window / (all / pairs);
		osu_row2(size, bw, 1e6 * bw / size);
	}
	osu_finish();
}
