/* What a status has, read and written. ranks: 1 */
#include "check.h"

int main(int argc, char **argv)
{
	MPI_Status s, other;
	int v;
	check_init(&argc, &argv);
	memset(&s, 0, sizeof s);
	OK(MPI_Status_set_source(&s, 3));
	OK(MPI_Status_set_tag(&s, 4));
	OK(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
	CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 4 && s.MPI_ERROR == MPI_ERR_TRUNCATE);
	OK(MPI_Status_get_source(&s, &v));
	CHECK(v == 3);
	OK(MPI_Status_get_tag(&s, &v));
	CHECK(v == 4);
	OK(MPI_Status_get_error(&s, &v));
	CHECK(v == MPI_ERR_TRUNCATE);
	OK(MPI_Test_cancelled(&s, &v));
	CHECK(!v);
	OK(MPI_Status_set_cancelled(&s, 7));
	OK(MPI_Test_cancelled(&s, &v));
	CHECK(v);
	other = s; /* a status is copied as any struct is */
	OK(MPI_Status_set_cancelled(&s, 0));
	OK(MPI_Test_cancelled(&s, &v));
	CHECK(!v);
	OK(MPI_Test_cancelled(&other, &v));
	CHECK(v && other.MPI_SOURCE == 3);
	return check_end();
}
