/* The library behind MPI_Finalize, and functions that run at exit. ranks: 1 2 */
#include "check.h"

static void at_exit(void)
{
	int over = 0;
	if (MPI_Finalized(&over) || !over) {
		fprintf(stderr, "MPI_Finalize is not over at exit\n");
		_Exit(1);
	}
}

int main(int argc, char **argv)
{
	MPI_Info info;
	int version, subversion, flag;
	char text[8];
	atexit(at_exit);
	OK(MPI_Info_create(&info)); /* before MPI_Init */
	OK(MPI_Info_set(info, "key", "value"));
	check_init(&argc, &argv);
	OK(MPI_Finalize());
	OK(MPI_Finalized(&flag));
	CHECK(flag);
	OK(MPI_Get_version(&version, &subversion));
	OK(MPI_Info_get(info, "key", 7, text, &flag));
	CHECK(flag && strcmp(text, "value") == 0);
	OK(MPI_Info_free(&info));
	exit(check_failures ? 1 : 0);
}
