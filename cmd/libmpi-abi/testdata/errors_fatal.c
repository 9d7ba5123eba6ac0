/* Errors and calls that end the process: each in a process of its own, without a launcher.
 * ranks: 1 */
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *wait_for_input(void *unused)
{
	getchar(); /* holds the stream stdin */
	return unused;
}

/* What a process does to its end; it may not return from there. */
static void end(int how)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	pthread_t thread;
	MPI_Comm comm;
	int x = 0;
	if (how == 0)
		MPI_Comm_rank(MPI_COMM_WORLD, &x); /* before MPI_Init */
	MPI_Init(NULL, NULL);
	printf("written");
	switch (how) {
	case 1:
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
		break;
	case 2:
		MPI_Comm_dup(MPI_COMM_NULL, &comm);
		break;
	case 3:
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
		break;
	case 4:
		MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_TAG);
		break;
	case 5:
		MPI_Init(NULL, NULL);
		break;
	case 6: /* other libraries wait for the stream */
		MPI_Get_library_version(version, &x);
		if (strstr(version, "Weft"))
			pthread_create(&thread, NULL, wait_for_input, NULL);
		MPI_Abort(MPI_COMM_WORLD, 42);
		break;
	case 7:
		MPI_Finalize();
		MPI_Comm_rank(MPI_COMM_WORLD, &x);
	}
}

static void run(char *self, int how)
{
	char number[] = {(char)('0' + how), 0}, text[100] = "", path[4096];
	char *arguments[] = {self, number, NULL}, *environment[] = {path, NULL};
	int output[2], input[2], status = 0;
	const char *libraries = getenv("LD_LIBRARY_PATH");
	snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s", libraries ? libraries : "");
	CHECK(pipe(output) == 0 && pipe(input) == 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		close(input[1]);
		execve("/proc/self/exe", arguments, environment);
		_exit(0);
	}
	close(output[1]);
	for (size_t n = 0; n < sizeof text - 1;) {
		ssize_t got = read(output[0], text + n, sizeof text - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 || (how == 6 && WEXITSTATUS(status) != 42) || (how > 0 && !strstr(text, "written"))) {
		fprintf(stderr, "process %d has ended with %#x and written %s\n", how, status, text);
		check_failures++;
	}
	close(output[0]);
	close(input[0]);
	close(input[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		end(atoi(argv[1]));
		return 0;
	}
	for (int how = 0; how <= 7; how++)
		run(argv[0], how);
	check_init(&argc, &argv);
	return check_end();
}
