/* A job whose ranks start, meet, send one message and end. Its argument is a time in ns
 * since 1970, from before the launch; rank 0 prints the ms from then until it has the
 * message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	char b = 1;
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (size > 1 && rank == size - 1)
		MPI_Send(&b, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		struct timespec now;
		if (size > 1)
			MPI_Recv(&b, 1, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		clock_gettime(CLOCK_REALTIME, &now);
		printf("%.3f\n", (now.tv_sec * 1e9 + now.tv_nsec - atof(argv[1])) / 1e6);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
