/* The calls that make a copy of an object, or end one, with its attributes: those are C's,
 * so each call has a part here and another in Go. */
#include "weft.h"

/* duplicate makes a copy of a communicator by a function of Go. If an attribute can't be
 * copied there is none: the others free theirs. One of which Go is not done can't be freed,
 * so it stays, without attributes. */
static int duplicate(int function, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, struct weft_args *a, const char *call)
{
	int code = weft_check(WEFT_COMM, W(comm));
	a->kind = WEFT_COMM;
	a->object = W(comm);
	if (!code && info != MPI_INFO_NULL && !weft_find(WEFT_INFO, W(info)))
		code = MPI_ERR_INFO;
	if (!code && !newcomm)
		code = MPI_ERR_ARG;
	if (!code)
		code = weft_go(function, a);
	if (!code && (code = weft_attributes_copy(WEFT_COMM, W(comm), W(*newcomm))) != MPI_SUCCESS &&
	    (function == weft_fn_Comm_dup || function == weft_fn_Comm_dup_with_info)) {
		struct weft_args end = {.word = {W(newcomm)}};
		weft_go(weft_fn_Comm_free, &end);
	}
	return code ? weft_raise(a, code, call) : MPI_SUCCESS;
}

MPI_API(Comm_dup, MPI_Comm comm, MPI_Comm *newcomm)
{
	struct weft_args a = {.word = {W(comm), W(newcomm)}};
	return duplicate(weft_fn_Comm_dup, comm, MPI_INFO_NULL, newcomm, &a, "MPI_Comm_dup");
}

MPI_API(Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	struct weft_args a = {.word = {W(comm), W(info), W(newcomm)}};
	return duplicate(weft_fn_Comm_dup_with_info, comm, info, newcomm, &a, "MPI_Comm_dup_with_info");
}

MPI_API(Comm_idup, MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	struct weft_args a = {.word = {W(comm), W(newcomm), W(request)}};
	if (!request)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_idup");
	return duplicate(weft_fn_Comm_idup, comm, MPI_INFO_NULL, newcomm, &a, "MPI_Comm_idup");
}

MPI_API(Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
	struct weft_args a = {.word = {W(comm), W(info), W(newcomm), W(request)}};
	if (!request)
		return weft_refuse(WEFT_COMM, W(comm), "MPI_Comm_idup_with_info");
	return duplicate(weft_fn_Comm_idup_with_info, comm, info, newcomm, &a, "MPI_Comm_idup_with_info");
}

MPI_API(Type_dup, MPI_Datatype datatype, MPI_Datatype *newtype)
{
	struct weft_args a = {.word = {W(datatype), W(newtype)}};
	int code = weft_check(WEFT_DATATYPE, W(datatype));
	if (!code && !newtype)
		code = MPI_ERR_ARG;
	if (!code)
		code = weft_go(weft_fn_Type_dup, &a);
	if (!code && (code = weft_attributes_copy(WEFT_DATATYPE, W(datatype), W(*newtype))) != MPI_SUCCESS) {
		struct weft_args end = {.word = {W(newtype)}};
		weft_go(weft_fn_Type_free, &end);
	}
	return code ? weft_raise(&a, code, "MPI_Type_dup") : MPI_SUCCESS;
}

/* finish ends an object that a pointer names: its attributes, then what Go has of it. What
 * the program has not made it can't end, and loses no attributes by trying. */
static int finish(int function, enum weft_kind kind, void *pointer, const char *call)
{
	struct weft_args a = {.kind = (int32_t)kind, .word = {W(pointer)}};
	int code;
	if (!pointer)
		return weft_refuse(WEFT_NONE, 0, call);
	a.object = *(uint64_t *)pointer;
	code = weft_check(kind, a.object);
	if (!code && (a.object < WEFT_FIRST || (kind == WEFT_DATATYPE && weft_slot_of(kind, a.object)->fixed)))
		code = weft_class_of_kind(kind);
	if (!code)
		code = weft_attributes_end(kind, a.object);
	if (!code)
		code = weft_go(function, &a);
	return code ? weft_raise(&a, code, call) : MPI_SUCCESS;
}

MPI_API(Comm_free, MPI_Comm *comm) { return finish(weft_fn_Comm_free, WEFT_COMM, comm, "MPI_Comm_free"); }
MPI_API(Comm_disconnect, MPI_Comm *comm) { return finish(weft_fn_Comm_disconnect, WEFT_COMM, comm, "MPI_Comm_disconnect"); }
MPI_API(Win_free, MPI_Win *win) { return finish(weft_fn_Win_free, WEFT_WIN, win, "MPI_Win_free"); }
MPI_API(Type_free, MPI_Datatype *datatype) { return finish(weft_fn_Type_free, WEFT_DATATYPE, datatype, "MPI_Type_free"); }
