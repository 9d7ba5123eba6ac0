/* Questions about datatypes that are asked for each message (MPI-5.0 §3.2.5 and §5.1). */
#include <limits.h>
#include <string.h>

#include "weft.h"

/* No object but MPI_COMM_SELF sees the errors of calls on datatypes. */
static int refuse(MPI_Datatype datatype, const char *call)
{
	struct weft_args a = {.kind = WEFT_NONE};
	int code = weft_ready();
	if (!code)
		code = weft_find(WEFT_DATATYPE, W(datatype)) ? MPI_ERR_ARG : MPI_ERR_TYPE;
	return weft_raise(&a, code, call);
}

/* A number that does not fit in an int is MPI_UNDEFINED. */
static int as_int(int64_t n) { return n >= INT_MIN && n <= INT_MAX ? (int)n : MPI_UNDEFINED; }

MPI_API(Type_size, MPI_Datatype datatype, int *size)
{
	struct weft_slot *s = weft_find(WEFT_DATATYPE, W(datatype));
	if (weft_ready() || !s || !size)
		return refuse(datatype, "MPI_Type_size");
	*size = as_int(s->bytes);
	return MPI_SUCCESS;
}

static int size_of(MPI_Datatype datatype, MPI_Count *size, const char *call)
{
	struct weft_slot *s = weft_find(WEFT_DATATYPE, W(datatype));
	if (weft_ready() || !s || !size)
		return refuse(datatype, call);
	*size = s->bytes;
	return MPI_SUCCESS;
}

MPI_API(Type_size_c, MPI_Datatype datatype, MPI_Count *size)
{
	return size_of(datatype, size, "MPI_Type_size_c");
}

MPI_API(Type_size_x, MPI_Datatype datatype, MPI_Count *size)
{
	return size_of(datatype, size, "MPI_Type_size_x");
}

/* MPI_Aint and MPI_Count are one type here. */
static int extent_of(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent, const char *call)
{
	struct weft_slot *s = weft_find(WEFT_DATATYPE, W(datatype));
	if (weft_ready() || !s || !lb || !extent)
		return refuse(datatype, call);
	*lb = s->lb;
	*extent = s->extent;
	return MPI_SUCCESS;
}

MPI_API(Type_get_extent, MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
	MPI_Count l, e;
	int code = extent_of(datatype, lb ? &l : NULL, extent ? &e : NULL, "MPI_Type_get_extent");
	if (code == MPI_SUCCESS) {
		*lb = l;
		*extent = e;
	}
	return code;
}

MPI_API(Type_get_extent_c, MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
	return extent_of(datatype, lb, extent, "MPI_Type_get_extent_c");
}

MPI_API(Type_get_extent_x, MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
	return extent_of(datatype, lb, extent, "MPI_Type_get_extent_x");
}

/* The length of a message is in the status, as package capi has left it there. */
static int count_of(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count, const char *call)
{
	struct weft_slot *s = weft_find(WEFT_DATATYPE, W(datatype));
	uint64_t bytes;
	if (weft_ready() || !s || !status || !count)
		return refuse(datatype, call);
	bytes = (uint32_t)status->MPI_internal[1] | (uint64_t)(uint32_t)status->MPI_internal[2] << 32;
	if (bytes == 0)
		*count = 0;
	else if (s->bytes == 0 || bytes % (uint64_t)s->bytes)
		*count = MPI_UNDEFINED;
	else
		*count = (MPI_Count)(bytes / (uint64_t)s->bytes);
	return MPI_SUCCESS;
}

MPI_API(Get_count, const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	MPI_Count n;
	int code = count_of(status, datatype, count ? &n : NULL, "MPI_Get_count");
	if (code == MPI_SUCCESS)
		*count = as_int(n);
	return code;
}

MPI_API(Get_count_c, const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
	return count_of(status, datatype, count, "MPI_Get_count_c");
}

/* The null handle has a name, too (MPI-5.0 §7.8). */
MPI_API(Type_get_name, MPI_Datatype datatype, char *type_name, int *resultlen)
{
	static const char null[] = "MPI_DATATYPE_NULL";
	struct weft_args a = {.kind = WEFT_NONE, .word = {W(datatype), W(type_name), W(resultlen)}};
	int code;
	if (weft_ready() || !type_name || !resultlen || (datatype != MPI_DATATYPE_NULL && !weft_find(WEFT_DATATYPE, W(datatype))))
		return refuse(datatype, "MPI_Type_get_name");
	if (datatype == MPI_DATATYPE_NULL) {
		memcpy(type_name, null, sizeof null);
		*resultlen = sizeof null - 1;
		return MPI_SUCCESS;
	}
	code = weft_go(weft_fn_Type_get_name, &a);
	return code ? weft_raise(&a, code, "MPI_Type_get_name") : MPI_SUCCESS;
}
