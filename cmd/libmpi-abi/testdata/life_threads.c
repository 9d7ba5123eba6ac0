/* Initialization on a second thread, and calls of several threads. ranks: 1 2 */
#include "check.h"
#include <pthread.h>

static void *begin(void *level)
{
	int provided = -1, main_thread = 0;
	OK(MPI_Init_thread(NULL, NULL, *(int *)level, &provided));
	CHECK(provided == MPI_THREAD_MULTIPLE);
	OK(MPI_Is_thread_main(&main_thread));
	CHECK(main_thread);
	return NULL;
}

/* Each thread has a tag of its own. */
static void *talk(void *tag)
{
	int rank, size, got = -1;
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	for (int i = 0; i < 50; i++) {
		int mine = rank * 1000 + i;
		OK(MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, *(int *)tag, &got, 1, MPI_INT, (rank + size - 1) % size, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(got == (rank + size - 1) % size * 1000 + i);
	}
	return NULL;
}

static void *set_attributes(void *key)
{
	for (int i = 0; i < 1000; i++) {
		void *value;
		int flag;
		OK(MPI_Comm_set_attr(MPI_COMM_WORLD, *(int *)key, key));
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, *(int *)key, &value, &flag));
		OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, *(int *)key));
	}
	return NULL;
}

static void all(void *(*function)(void *), int *arguments)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, function, &arguments[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static int deletions;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm, (void)key, (void)value, (void)extra;
	__atomic_add_fetch(&deletions, 1, __ATOMIC_RELAXED);
	return MPI_SUCCESS;
}

int main(void)
{
	pthread_t thread;
	int level = MPI_THREAD_MULTIPLE, flag, keys[4], tags[4] = {1, 2, 3, 4};
	OK(MPI_Initialized(&flag));
	CHECK(!flag);
	OK(MPI_Finalized(&flag));
	CHECK(!flag);
	pthread_create(&thread, NULL, begin, &level);
	pthread_join(thread, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	OK(MPI_Initialized(&flag));
	CHECK(flag);
	OK(MPI_Query_thread(&level));
	CHECK(level == MPI_THREAD_MULTIPLE);
	CHECK_CLASS(MPI_Query_thread(NULL), MPI_ERR_ARG);
	CHECK(MPI_Init(NULL, NULL) != MPI_SUCCESS); /* once only */
	all(talk, tags);
	for (int i = 0; i < 4; i++)
		OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keys[i], NULL));
	all(set_attributes, keys);
	CHECK(deletions == 4000);
	for (int i = 0; i < 4; i++)
		OK(MPI_Comm_free_keyval(&keys[i]));
	OK(MPI_Finalize());
	OK(MPI_Initialized(&flag));
	CHECK(flag);
	OK(MPI_Finalized(&flag));
	CHECK(flag);
	return check_failures ? 1 : 0;
}
