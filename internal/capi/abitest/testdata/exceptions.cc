// An error handler that throws: the exception passes the library's frames, and the library
// goes on.
#include <mpi.h>

struct Error {
	int code;
};

static void raise(MPI_Comm *, int *code, ...) { throw Error{*code}; }

int main(int argc, char **argv)
{
	MPI_Errhandler handler;
	int rank, size, caught = 0, sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(raise, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Errhandler_free(&handler);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 1000; i++) {
		try {
			MPI_Send(&i, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
			return 2;
		} catch (const Error &e) {
			int error_class;
			MPI_Error_class(e.code, &error_class);
			if (error_class != MPI_ERR_RANK)
				return 3;
			caught++;
		}
	}
	MPI_Allreduce(&caught, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum == 1000 * size ? 0 : 4;
}
