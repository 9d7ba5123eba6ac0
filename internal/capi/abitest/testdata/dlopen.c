/* Loads the library by its path, uses it, closes it, and uses it again. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int (*init_function)(int *, char ***);
typedef int (*rank_function)(MPI_Comm, int *);
typedef int (*reduce_function)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int (*finalize_function)(void);

int main(int argc, char **argv)
{
	int rank = 0, size = 0, sum = 0;
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	((init_function)dlsym(library, "MPI_Init"))(&argc, &argv);
	dlclose(library);
	library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
	if (!library) {
		fprintf(stderr, "dlclose has taken the library away\n");
		return 1;
	}
	((rank_function)dlsym(library, "MPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
	((rank_function)dlsym(library, "MPI_Comm_size"))(MPI_COMM_WORLD, &size);
	((reduce_function)dlsym(library, "MPI_Allreduce"))(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	((finalize_function)dlsym(library, "MPI_Finalize"))();
	dlclose(library);
	return sum == size * (size - 1) / 2 ? 0 : 2;
}
