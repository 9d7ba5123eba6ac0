/* Passes a token around three times; rank 0 says what it adds up to. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, token = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++) {
		if (rank > 0)
			MPI_Recv(&token, 1, MPI_INT, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		token += rank + 1;
		if (size > 1)
			MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD);
		if (rank == 0 && size > 1)
			MPI_Recv(&token, 1, MPI_INT, size - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (rank == 0)
		printf("%d ranks: %d\n", size, token);
	MPI_Finalize();
	return 0;
}
