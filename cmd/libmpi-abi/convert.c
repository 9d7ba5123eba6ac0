/* Handles as integers (MPI-5.0 §20), which all but those of requests are, and addresses. That
 * a handle is none is found where it is used. */
#include "weft.h"

#define TO_INT(handle) ((int)(intptr_t)(handle))
#define TO_HANDLE(type, number) ((type)(intptr_t)(number))

MPI_API_OF(int, Comm_toint, MPI_Comm handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Comm, Comm_fromint, int number) { return TO_HANDLE(MPI_Comm, number); }
MPI_API_OF(int, Errhandler_toint, MPI_Errhandler handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Errhandler, Errhandler_fromint, int number) { return TO_HANDLE(MPI_Errhandler, number); }
MPI_API_OF(int, File_toint, MPI_File handle) { return TO_INT(handle); }
MPI_API_OF(MPI_File, File_fromint, int number) { return TO_HANDLE(MPI_File, number); }
MPI_API_OF(int, Group_toint, MPI_Group handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Group, Group_fromint, int number) { return TO_HANDLE(MPI_Group, number); }
MPI_API_OF(int, Info_toint, MPI_Info handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Info, Info_fromint, int number) { return TO_HANDLE(MPI_Info, number); }
MPI_API_OF(int, Message_toint, MPI_Message handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Message, Message_fromint, int number) { return TO_HANDLE(MPI_Message, number); }
MPI_API_OF(int, Op_toint, MPI_Op handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Op, Op_fromint, int number) { return TO_HANDLE(MPI_Op, number); }
MPI_API_OF(int, Session_toint, MPI_Session handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Session, Session_fromint, int number) { return TO_HANDLE(MPI_Session, number); }
MPI_API_OF(int, Type_toint, MPI_Datatype handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Datatype, Type_fromint, int number) { return TO_HANDLE(MPI_Datatype, number); }
MPI_API_OF(int, Win_toint, MPI_Win handle) { return TO_INT(handle); }
MPI_API_OF(MPI_Win, Win_fromint, int number) { return TO_HANDLE(MPI_Win, number); }

/* Addresses are numbers: the sum wraps as one without a sign does. */
MPI_API_OF(MPI_Aint, Aint_add, MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
MPI_API_OF(MPI_Aint, Aint_diff, MPI_Aint addr1, MPI_Aint addr2) { return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2); }

MPI_API(Get_address, const void *location, MPI_Aint *address)
{
	if (weft_ready() || !address)
		return weft_refuse(WEFT_NONE, 0, "MPI_Get_address");
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}

MPI_API(Get_version, int *version, int *subversion)
{
	if (!version || !subversion)
		return weft_raise_on(WEFT_NONE, 0, MPI_ERR_ARG, "MPI_Get_version");
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}
