#include "ddt.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MAX_BLOCKS (1 << 16)
#define MAX_SIZE (1 << 30)

struct osu_message osu_message = {MPI_CHAR, 0, 0};

/* A struct with padding, as that of osu-go. */
struct record {
	double mass;
	signed char kind;
	float charge;
};

static long element(const char *text, long least, const char *why)
{
	char *end;
	long n = strtol(text, &end, 10);
	while (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\n')
		end++;
	if (end == text || *end || n < least || n > MAX_SIZE)
		osu_fail(why);
	return n;
}

/* Reads lines of "displacement,length"; those that begin with # are comments. */
static void blocks_of(const char *file)
{
	const char *why = "Invalid line in the ddt file: displacement,length is expected";
	char line[512];
	FILE *f = fopen(file, "r");
	if (!f)
		osu_fail("Unable to open the ddt file");
	osu.disps = malloc(MAX_BLOCKS * sizeof *osu.disps);
	osu.lens = malloc(MAX_BLOCKS * sizeof *osu.lens);
	while (fgets(line, sizeof line, f)) {
		char *text = line + strspn(line, " \t\r\n"), *comma = strchr(text, ',');
		if (*text == '#' || !*text)
			continue;
		if (!comma || osu.blocks == MAX_BLOCKS)
			osu_fail(comma ? "Too many blocks in the ddt file" : why);
		*comma = 0;
		osu.disps[osu.blocks] = element(text, 0, why);
		osu.lens[osu.blocks++] = element(comma + 1, 0, why);
	}
	fclose(f);
	if (!osu.blocks)
		osu_fail("No blocks in the ddt file");
}

void osu_ddt_of(char *text)
{
	static const char *const words[] = {"cont", "vect", "indx", "struct", "hand"};
	const char *why = "Please use 'cont', 'vect:STRIDE:BLOCK', 'indx:FILE', 'struct' or 'hand:STRIDE:BLOCK' for the ddt";
	char *rest = strchr(text, ':');
	if (rest)
		*rest++ = 0;
	for (int k = 0; k < 5; k++)
		if (!strcasecmp(text, words[k]))
			osu.ddt = OSU_CONT + k;
	switch (osu.ddt) {
	case OSU_VECT:
	case OSU_HAND: {
		char *block = rest ? strchr(rest, ':') : NULL;
		if (!block)
			osu_fail(why);
		*block = 0;
		osu.stride = element(rest, 1, why);
		osu.block = element(block + 1, 1, why);
		if (osu.block > osu.stride)
			osu_fail("Invalid ddt: the blocks overlap");
		break;
	}
	case OSU_INDX:
		if (!rest)
			osu_fail(why);
		blocks_of(rest);
		break;
	default:
		if (osu.ddt == OSU_PLAIN || rest)
			osu_fail(why);
	}
}

static size_t sent_of(size_t size)
{
	size_t sum = 0;
	switch (osu.ddt) {
	case OSU_VECT:
	case OSU_HAND:
		return size / osu.stride * osu.block;
	case OSU_STRUCT:
		return size / sizeof(struct record) * (sizeof(double) + 1 + sizeof(float));
	case OSU_INDX:
		for (int k = 0; k < osu.blocks; k++)
			sum += osu.lens[k];
		return sum;
	default:
		return size;
	}
}

void osu_message_free(void)
{
	if (osu_message.type != MPI_CHAR)
		MPI_Type_free(&osu_message.type);
	osu_message.type = MPI_CHAR;
}

int osu_message_in(size_t size)
{
	MPI_Datatype made = MPI_CHAR;
	int count = 1;
	for (int k = 0; osu.ddt == OSU_INDX && k < osu.blocks; k++)
		if ((size_t)osu.disps[k] + osu.lens[k] > size)
			return 0;
	osu_message_free();
	switch (osu.ddt) {
	case OSU_CONT:
		MPI_Type_contiguous(size, MPI_CHAR, &made);
		break;
	case OSU_VECT:
		MPI_Type_vector(size / osu.stride, osu.block, osu.stride, MPI_CHAR, &made);
		break;
	case OSU_INDX:
		MPI_Type_indexed(osu.blocks, osu.lens, osu.disps, MPI_CHAR, &made);
		break;
	case OSU_STRUCT: {
		MPI_Datatype fields, types[] = {MPI_DOUBLE, MPI_SIGNED_CHAR, MPI_FLOAT};
		MPI_Aint disps[] = {offsetof(struct record, mass), offsetof(struct record, kind), offsetof(struct record, charge)};
		int lens[] = {1, 1, 1};
		MPI_Type_create_struct(3, lens, disps, types, &fields);
		MPI_Type_create_resized(fields, 0, sizeof(struct record), &made);
		MPI_Type_free(&fields);
		count = size / sizeof(struct record);
		break;
	}
	default:
		count = size;
	}
	if (made != MPI_CHAR)
		MPI_Type_commit(&made);
	osu_message = (struct osu_message){made, count, sent_of(size)};
	return 1;
}

int osu_blocks_in(size_t size)
{
	MPI_Datatype all, made;
	MPI_Aint lb, extent;
	if (!osu_message_in(size))
		return 0;
	MPI_Type_get_extent(osu_message.type, &lb, &extent);
	if ((size_t)extent * osu_message.count == size)
		return 1;
	MPI_Type_contiguous(osu_message.count, osu_message.type, &all);
	MPI_Type_create_resized(osu_message.count == 1 ? osu_message.type : all, 0, size, &made);
	MPI_Type_commit(&made);
	MPI_Type_free(&all);
	osu_message_free();
	osu_message.type = made, osu_message.count = 1;
	return 1;
}

char **osu_packed(int count)
{
	if (osu.ddt != OSU_HAND)
		return NULL;
	char **all = malloc(count * sizeof *all);
	for (int k = 0; k < count; k++)
		all[k] = osu_buffer(sent_of(osu.max), 0);
	return all;
}
