/* How much of a core a rank uses while it waits: rank 1 blocks in MPI_Recv,
 * rank 0 sleeps (nanosleep, outside MPI) and then sends. Rank 1 reads its own
 * CPU time, user and system, all threads, on both sides of the receive. */
#include "osu.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	osu_start(argc, argv, OSU_OWN, "s:", MPI_THREAD_SINGLE, 2);
	char *buf = osu_buffer(8, 'a');

	MPI_Barrier(MPI_COMM_WORLD);
	if (osu_rank == 0) {
		struct timespec rest = {osu.seconds, (osu.seconds - (long)osu.seconds) * 1e9};
		while (nanosleep(&rest, &rest))
			;
		MPI_Send(buf, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
	} else {
		double cpu = cpu_seconds(), wall = MPI_Wtime();
		MPI_Recv(buf, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		wall = MPI_Wtime() - wall;
		cpu = cpu_seconds() - cpu;
		printf("\n# Weft MPI Idle CPU Test\n");
		printf("%-*s%*s%*s\n", 10, "# Wall(s)", 18, "CPU(s)", 18, "Core(%)");
		printf("%-*.2f%*.4f%*.2f\n", 10, wall, 18, cpu, 18, 100 * cpu / wall);
		fflush(stdout);
	}
	osu_finish();
}
