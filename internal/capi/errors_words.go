package capi

import (
	"regexp"
	"strings"
)

// inC is an error's sentence for a program in C. Package mpi names its own calls and
// constants, which C knows by other names.
func inC(s string) string {
	s = goCalls.ReplaceAllString(s, "")
	s = goNames.ReplaceAllStringFunc(s, func(name string) string {
		if other, is := namesInC[name]; is {
			return other
		}
		return name
	})
	return strings.NewReplacer("goroutine", "thread", " is nil", " is null").Replace(s)
}

// goCalls are the beginnings of errors of package mpi, which other errors quote.
var goCalls = regexp.MustCompile(`\bmpi\.[A-Za-z.]*: `)

// goNames are what may be names of Go; behind a quotation mark is a name of the program's.
var goNames = regexp.MustCompile(`"?\b[A-Z][A-Za-z]*(\.[A-Z][A-Za-z]*)?`)

// namesInC are those that errors mention. Where there is none in C, or a word may be one of
// English, the sentence stays.
var namesInC = map[string]string{
	"AnySource": "MPI_ANY_SOURCE", "AnyTag": "MPI_ANY_TAG", "ProcNull": "MPI_PROC_NULL", "Root": "MPI_ROOT", "Undefined": "MPI_UNDEFINED",
	"InPlace": "MPI_IN_PLACE", "BufInPlace": "MPI_IN_PLACE", "GroupEmpty": "MPI_GROUP_EMPTY",
	"World.Comm": "MPI_COMM_WORLD", "Comm.Group": "MPI_Comm_group", "Win.Group": "MPI_Win_get_group",
	"Session.Group": "MPI_Group_from_session_pset", "Session.Psets": "MPI_Session_get_nth_pset",
	"NewSession": "MPI_Session_init", "World.NewSession": "MPI_Session_init", "Init": "MPI_Init", "Finalize": "MPI_Finalize",
	"World.Finalize": "MPI_Finalize", "Session.Finalize": "MPI_Session_finalize", "Abort": "MPI_Abort",

	"Dup": "MPI_Comm_dup", "Idup": "MPI_Comm_idup", "Merge": "MPI_Intercomm_merge", "IntercommCreate": "MPI_Intercomm_create",
	"CommCreateFromGroup": "MPI_Comm_create_from_group", "SplitTypeWithInfo": "MPI_Comm_split_type", "SetInfo": "MPI_Comm_set_info",
	"TypeShared": "MPI_COMM_TYPE_SHARED", "TypeHWGuided": "MPI_COMM_TYPE_HW_GUIDED", "TypeHWUnguided": "MPI_COMM_TYPE_HW_UNGUIDED",
	"CartCreate": "MPI_Cart_create", "CartSub": "MPI_Cart_sub", "GraphCreate": "MPI_Graph_create",
	"DistGraphAdjacent": "MPI_Dist_graph_create_adjacent", "DistGraphCreate": "MPI_Dist_graph_create",

	"AddErrorClass": "MPI_Add_error_class", "AddErrorCode": "MPI_Add_error_code",
	"RemoveErrorClass": "MPI_Remove_error_class", "RemoveErrorCode": "MPI_Remove_error_code",
	"NewErrhandler": "MPI_Comm_create_errhandler", "NewSessionErrhandler": "MPI_Session_create_errhandler",
	"NewWinErrhandler": "MPI_Win_create_errhandler", "NewInfo": "MPI_Info_create",

	"Mprobe": "MPI_Mprobe", "Improbe": "MPI_Improbe", "Mrecv": "MPI_Mrecv", "GrequestComplete": "MPI_Grequest_complete",
	"PsendInit": "MPI_Psend_init", "PrecvInit": "MPI_Precv_init", "BufferDetach": "MPI_Buffer_detach",
	"Replace": "MPI_REPLACE", "NoOp": "MPI_NO_OP", "BAnd": "MPI_BAND", "BOr": "MPI_BOR", "BXor": "MPI_BXOR",

	"LockExclusive": "MPI_LOCK_EXCLUSIVE", "LockShared": "MPI_LOCK_SHARED", "LockAll": "MPI_Win_lock_all", "UnlockAll": "MPI_Win_unlock_all",
	"Lock": "MPI_Win_lock", "Unlock": "MPI_Win_unlock", "GetAccumulate": "MPI_Get_accumulate", "CompareAndSwap": "MPI_Compare_and_swap",
	"WinAllocate": "MPI_Win_allocate", "WinCreateDynamic": "MPI_Win_create_dynamic",
}
