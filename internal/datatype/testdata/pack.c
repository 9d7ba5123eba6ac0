/* Reads datatypes as text, one after another, and says what a C MPI makes of each:
 *
 *   case COUNT ORIGIN LENGTH MORE TREE
 *
 * answers with one of the lines
 *
 *   SIZE LB EXTENT TRUE_LB TRUE_EXTENT PACKED EXTERNAL ELEMENTS...
 *   failed CALL: WHY
 *
 * PACKED and EXTERNAL are what MPI_Pack and MPI_Pack_external give of COUNT elements
 * in LENGTH bytes of known memory, in hexadecimal digits after an x. ELEMENTS are
 * what MPI_Get_elements_x says of messages of 0, 1, ... bytes, 40 at most. EXTERNAL and
 * ELEMENTS are empty unless MORE is 1. */
#include "types.h"

int main(int argc, char **argv)
{
	char word[8];
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	while (scanf("%7s", word) == 1) {
		int count = number(), size, pos = 0;
		long origin = number(), length = number(), more = number();
		MPI_Aint lb, extent, at = 0;
		MPI_Datatype t = (release(), tree());
		MPI_Status status;
		unsigned char *mem = malloc(length + 1), *packed, *external;
		char *line;
		size_t line_length;
		FILE *out = open_memstream(&line, &line_length);

		if (failure[0]) {
			printf("failed %s\n", failure);
			failure[0] = 0;
			continue;
		}
		for (long i = 0; i < length; i++)
			mem[i] = i * 167 + (i >> 8) * 13 + 1;
		if (created > 0)
			TRY(MPI_Type_commit(&t));
		TRY(MPI_Type_size(t, &size));
		TRY(MPI_Type_get_extent(t, &lb, &extent));
		fprintf(out, "%d %ld %ld", size, (long)lb, (long)extent);
		TRY(MPI_Type_get_true_extent(t, &lb, &extent));
		fprintf(out, " %ld %ld", (long)lb, (long)extent);

		packed = calloc((long)size * count + 64, 1);
		external = calloc((long)size * count + 64, 1);
		TRY(MPI_Pack(mem + origin, count, t, packed, size * count + 64, &pos, MPI_COMM_SELF));
		hex(out, packed, pos);
		if (more)
			TRY(MPI_Pack_external("external32", mem + origin, count, t, external, (long)size * count + 64, &at));
		hex(out, external, at);

		memset(&status, 0, sizeof status);
		for (int n = 0; more && n <= 40 && n <= size * count; n++) {
			MPI_Count elements;
			TRY(MPI_Status_set_elements(&status, MPI_BYTE, n));
			TRY(MPI_Get_elements_x(&status, t, &elements));
			fprintf(out, " %lld", elements == MPI_UNDEFINED ? -1LL : (long long)elements);
		}
		fclose(out);
		if (failure[0])
			printf("failed %s\n", failure);
		else
			printf("%s\n", line);
		failure[0] = 0;
		free(line);
		free(mem);
		free(packed);
		free(external);
	}
	MPI_Finalize();
	return 0;
}
