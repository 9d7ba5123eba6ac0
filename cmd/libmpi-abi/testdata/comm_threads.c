/* Threads make and free communicators, groups and info objects at once, each of its own.
 * ranks: 1 2 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 40 };

static MPI_Comm of[THREADS];
static MPI_Info shared;

/* work returns how many calls have failed. */
static void *work(void *arg)
{
	MPI_Comm *parent = arg, dup, half;
	long failed = 0;
	char key[16], value[16];
	int n, flag, one = 1, sum = 0, len;
	snprintf(key, sizeof key, "key %d", (int)(parent - of));
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Group all, none;
		MPI_Info info;
		failed += MPI_Comm_dup(*parent, &dup) != MPI_SUCCESS;
		failed += MPI_Comm_split(dup, 0, -check_rank, &half) != MPI_SUCCESS;
		failed += MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half) != MPI_SUCCESS || sum != check_size;
		failed += MPI_Comm_group(half, &all) != MPI_SUCCESS;
		failed += MPI_Group_difference(all, all, &none) != MPI_SUCCESS || none != MPI_GROUP_EMPTY;
		failed += MPI_Group_size(all, &n) != MPI_SUCCESS || n != check_size;
		failed += MPI_Group_free(&none) != MPI_SUCCESS;
		failed += MPI_Group_free(&all) != MPI_SUCCESS;
		failed += MPI_Info_set(shared, key, "value") != MPI_SUCCESS;
		failed += MPI_Info_dup(shared, &info) != MPI_SUCCESS;
		len = sizeof value;
		failed += MPI_Info_get_string(info, key, &len, value, &flag) != MPI_SUCCESS || !flag || strcmp(value, "value");
		failed += MPI_Info_free(&info) != MPI_SUCCESS;
		failed += MPI_Info_delete(shared, key) != MPI_SUCCESS;
		failed += MPI_Comm_free(&half) != MPI_SUCCESS;
		failed += MPI_Comm_free(&dup) != MPI_SUCCESS;
	}
	return (void *)failed;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int provided = -1, n = -1;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		return check_end();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	OK(MPI_Info_create(&shared));
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &of[i]));
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, &of[i]) == 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed = NULL;
		CHECK(pthread_join(threads[i], &failed) == 0);
		CHECK(failed == NULL);
		OK(MPI_Comm_free(&of[i]));
	}
	OK(MPI_Info_get_nkeys(shared, &n));
	CHECK(n == 0);
	OK(MPI_Info_free(&shared));
	return check_end();
}
