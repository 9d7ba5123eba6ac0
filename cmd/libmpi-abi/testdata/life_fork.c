/* A rank starts other programs. ranks: 1 2 */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = -1, sum = 0, one = 1;
	char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
	check_init(&argc, &argv);
	for (int i = 0; i < 5; i++) {
		CHECK(system("exit 3") == 3 << 8);
		pid_t child = fork();
		if (child == 0) {
			execv("/bin/sh", arguments);
			_exit(1);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
		child = fork();
		if (child == 0)
			_exit(5);
		CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
		OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		CHECK(sum == check_size);
	}
	return check_end();
}
