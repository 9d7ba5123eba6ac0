/* Writes to an address that is none, on the thread that called MPI_Init or on another. */
#include <mpi.h>
#include <pthread.h>

static void *crash(void *address)
{
	*(volatile int *)address = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 1) {
		pthread_create(&thread, NULL, crash, (void *)8);
		pthread_join(thread, NULL);
	}
	crash((void *)8);
}
