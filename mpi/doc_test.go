package mpi_test

import (
	"go/ast"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// go doc of a type shows its fields and methods, of whichever package they come.
func TestGoDocShowsWhatAUserHolds(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	for name, words := range map[string][]string{
		"Status":      {"Source int", "Tag", "Bytes", "Err", "Cancelled"},
		"Request":     {"MPI_REQUEST_NULL", "func (r Request) Null() bool", "func Isend"},
		"Limits":      {"PeerBytes", "PeerMessages", "Bytes", "Messages", "Stall"},
		"Message":     {"func (m Message) NoProc() bool"},
		"Comm":        {"func (c *Comm) Free() error", "func (c *Comm) Rank() int", "func IntercommCreate(", "Merge(high bool) (*Comm, error)", "RemoteGroup() *Group", "SetErrhandler(", "Info(", "SetName(name string) error", "Name() string"},
		"Keyval":      {"func NewKeyval[", "Get(c *Comm)", "Set(c *Comm,", "Delete(c *Comm) error", "Free() error"},
		"Errhandler":  {"ErrorsReturn", "ErrorsAreFatal", "ErrorsAbort", "func NewErrhandler("},
		"Info":        {"func NewInfo(", "Set(key,", "Get(key", "Keys() []string", "All() iter.Seq2", "Dup() *Info"},
		"World":       {"func Init(", "func (w *World) Finalize() error"},
		"Win":         {"SetErrhandler(", "Fence(promises ...Assert) error", "Explain() string", "func WinCreateDynamic("},
		"Window":      {"func WinAllocate[", "Local() []T", "FetchAndOp(", "func (w Window[T]) Shared("},
		"WinKeyval":   {"func NewWinKeyval[", "Get(w *Win)", "Free() error"},
		"Datatype":    {"TypeInt32", "func TypeVector(", "func TypeOf[", "Commit() error", "Contents() (", "Free() error", "Dup() (*Datatype, error)"},
		"TypeKeyval":  {"func NewTypeKeyval[", "Get(d *Datatype)", "Free() error"},
		"Buf":         {"func Strided[", "func Subarray[", "func Indexed[", "func As["},
		"ArgError":    {"Arg", "Pos", "Item", "HasValue", "Hint"},
		"WinOptions":  {"DispUnit", "Info", "Noncontiguous", "Model"},
		"Assert":      {"NoCheck", "NoPrecede"},
		"Error":       {"Class Class", "Call", "Err"},
		"Partitioned": {"func Partitions(r Request) *Partitioned", "func (p *Partitioned) Ready(i int) error", "Arriving("},
		"Group":       {"Comm.Group", "func (g *Group) Incl(ranks ...int) (*Group, error)", "All() iter.Seq2[int, int]"},
		"Comparison":  {"Ident", "Congruent", "Similar", "Unequal"},
		// These are other packages' types: the words tell their fields.
		"TruncateError": {"Length", "Room"}, "LengthError": {"Rank", "Got", "Want"}, "CallError": {"Rank", "Code", "Text"}, "MismatchError": {"Rank", "Here", "Theirs", "Mine"}, "BrokenError": {"Err"}, "OperatorError": {"Value", "Stack"},
		"Op": {"Sum", "func (o *Op) Commutes() bool"}, "OpOf": {"func NewOp", "func NewVectorOp", "func NewStructOp", "Commutes() bool"}, "Operator": {"*Op | *OpOf[T]"}, "NoBufferError": {"Need", "Free", "Size"}, "LimitError": {"Held", "Limit", "After"},
		"FabricError": {"Op", "Peer", "HasPeer", "Remedy", "Err"}, "EnvError": {"Var", "Value", "Remedy"}, "LostError": {"Rank", "Reason"}, "AbortError": {"Rank", "Code", "Why"},
		"Setting": {"Variable", "Option", "Value", "Origin", "Err"}, "Origin": {"FromOption", "FromEnvironment", "FromMeasurement", "FromDefault"},
		"Protocol": {"From", "Way", "What", "Why"}, "Algorithm": {"Call", "Between", "Name", "When", "Why"},
		"ConflictError": {"First and Second", "Target", "At and Bytes"}, "WinAccess": {"Rank", "Call", "Line"},
		"PartitionError": {"Partition", "Partitions"}, "Range": {"First", "Stride", "Last"}, "SizeError": {"Sent", "Received", "SendParts", "ReceiveParts"},
	} {
		out, err := exec.Command(goTool, "doc", ".", name).CombinedOutput()
		if err != nil {
			t.Fatalf("go doc %s: %v\n%s", name, err, out)
		}
		for _, w := range words {
			if !strings.Contains(string(out), w) {
				t.Errorf("go doc %s does not show %q:\n%s", name, w, out)
			}
		}
	}
}

// sections are where MPI-4.0 has each function, or MPI-4.1 those that are new
// there: taken from the tables of contents, counted section by section. MPI-4.0
// has the blocking send-receive calls in §3.2.7, where MPI-3.1 had §3.10, so Null
// Processes is §3.10 there and §3.11 in MPI-3.1.
var sections = map[string]string{
	"Send": "§3.2.1", "Recv": "§3.2.4", "Get_count": "§3.2.5", "Status": "§3.2.5", "ANY_SOURCE": "§3.2.4", "ANY_TAG": "§3.2.4",
	"Sendrecv": "§3.2.7", "Sendrecv_replace": "§3.2.7",
	"Ssend": "§3.4", "Rsend": "§3.4", "Bsend": "§3.4",
	"Buffer_attach": "§3.6", "Buffer_detach": "§3.6", "BSEND_OVERHEAD": "§3.6",
	"Buffer_flush": "4.1 §3.6", "Buffer_iflush": "4.1 §3.6", "Comm_attach_buffer": "4.1 §3.6", "Comm_detach_buffer": "4.1 §3.6",
	"Comm_flush_buffer": "4.1 §3.6", "Comm_iflush_buffer": "4.1 §3.6",
	"Request": "§3.7.1", "REQUEST_NULL": "§3.7.3", "Isend": "§3.7.2", "Issend": "§3.7.2", "Irsend": "§3.7.2", "Ibsend": "§3.7.2", "Irecv": "§3.7.2",
	"Isendrecv": "§3.7.2", "Isendrecv_replace": "§3.7.2",
	"Wait": "§3.7.3", "Test": "§3.7.3", "Request_free": "§3.7.3",
	"Waitany": "§3.7.5", "Testany": "§3.7.5", "Waitall": "§3.7.5", "Testall": "§3.7.5", "Waitsome": "§3.7.5", "Testsome": "§3.7.5",
	"Request_get_status": "§3.7.6",
	"Probe":              "§3.8.1", "Iprobe": "§3.8.1", "Mprobe": "§3.8.2", "Improbe": "§3.8.2", "Message": "§3.8.2", "MESSAGE_NO_PROC": "§3.8.2",
	"Mrecv": "§3.8.3", "Imrecv": "§3.8.3", "Cancel": "§3.8.4",
	"Send_init": "§3.9", "Ssend_init": "§3.9", "Rsend_init": "§3.9", "Bsend_init": "§3.9", "Recv_init": "§3.9", "Start": "§3.9", "Startall": "§3.9",
	"PROC_NULL":  "§3.10",
	"Psend_init": "§4.2.1", "Precv_init": "§4.2.1", "Pready": "§4.2.1", "Pready_range": "§4.2.1", "Pready_list": "§4.2.1", "Parrived": "§4.2.2",
	"IN_PLACE": "§6.2.1", "ROOT": "§6.2.3", "Barrier": "§6.3", "Bcast": "§6.4", "Gather": "§6.5", "Gatherv": "§6.5", "Scatter": "§6.6", "Scatterv": "§6.6",
	"Allgather": "§6.7", "Allgatherv": "§6.7", "Alltoall": "§6.8", "Alltoallv": "§6.8", "Alltoallw": "§6.8",
	"Op": "§6.9.1", "Reduce": "§6.9.1", "Op_create": "§6.9.5", "Allreduce": "§6.9.6", "Reduce_local": "§6.9.7", "Op_commutative": "§6.9.7",
	"SUM": "§6.9.2", "PROD": "§6.9.2", "MAX": "§6.9.2", "MIN": "§6.9.2", "LAND": "§6.9.2", "LOR": "§6.9.2", "LXOR": "§6.9.2",
	"BAND": "§6.9.2", "BOR": "§6.9.2", "BXOR": "§6.9.2", "MINLOC": "§6.9.4", "MAXLOC": "§6.9.4",
	"Reduce_scatter_block": "§6.10.1", "Scan": "§6.11.1", "Exscan": "§6.11.2",
	"Ibarrier": "§6.12.1", "Ibcast": "§6.12.2", "Igather": "§6.12.3", "Igatherv": "§6.12.3", "Iscatter": "§6.12.4", "Iscatterv": "§6.12.4",
	"Iallgather": "§6.12.5", "Iallgatherv": "§6.12.5", "Ialltoall": "§6.12.6", "Ialltoallv": "§6.12.6", "Ialltoallw": "§6.12.6", "Ireduce": "§6.12.7",
	"Iallreduce": "§6.12.8", "Ireduce_scatter_block": "§6.12.9", "Iscan": "§6.12.11", "Iexscan": "§6.12.12",
	"COMM_WORLD": "§7.2.4", "COMM_SELF": "§7.2.4", "Comm_dup_with_info": "§7.4.2", "Comm_idup": "§7.4.2", "Comm_idup_with_info": "§7.4.2",
	"Comm_split": "§7.4.2", "Comm_split_type": "§7.4.2", "COMM_TYPE_SHARED": "§7.4.2", "COMM_TYPE_HW_GUIDED": "§7.4.2", "COMM_TYPE_HW_UNGUIDED": "§7.4.2", "Comm_create": "§7.4.2", "Comm_set_name": "§7.8", "Comm_get_name": "§7.8", "MAX_OBJECT_NAME": "§7.8", "Comm_set_info": "§7.4.4", "Comm_get_info": "§7.4.4",
	"Comm_create_keyval": "§7.7.2", "Comm_set_attr": "§7.7.2", "Comm_get_attr": "§7.7.2", "Comm_delete_attr": "§7.7.2", "Comm_free_keyval": "§7.7.2",
	"Errhandler": "§9.3", "ERRORS_RETURN": "§9.3", "ERRORS_ARE_FATAL": "§9.3", "ERRORS_ABORT": "§9.3",
	"Comm_create_errhandler": "§9.3.1", "Comm_set_errhandler": "§9.3.1", "Comm_get_errhandler": "§9.3.1", "Comm_call_errhandler": "§9.5",
	"Error_string": "§9.3.5", "Error_class": "§9.4", "Add_error_class": "§9.5", "Add_error_code": "§9.5", "Add_error_string": "§9.5",
	"LASTUSEDCODE": "§9.5", "Remove_error_class": "4.1 §9.5", "Remove_error_code": "4.1 §9.5", "Remove_error_string": "4.1 §9.5",
	"WTIME_IS_GLOBAL": "§9.1.2", "UNIVERSE_SIZE": "§11.10.1", "APPNUM": "§11.10.3",
	"Info": "§10", "Info_create": "§10", "Info_set": "§10", "Info_get_string": "§10", "Info_delete": "§10", "Info_get_nkeys": "§10",
	"Info_get_nthkey": "§10", "Info_dup": "§10", "Info_create_env": "§10", "MAX_INFO_KEY": "§10", "MAX_INFO_VAL": "§10", "INFO_ENV": "§11.2.1",
	"Query_thread": "§11.2.1", "Is_thread_main": "§11.2.1", "THREAD_SINGLE": "§11.2.1", "THREAD_FUNNELED": "§11.2.1",
	"THREAD_SERIALIZED": "§11.2.1", "THREAD_MULTIPLE": "§11.2.1",
	"Comm_test_inter": "§7.6.1", "Comm_remote_size": "§7.6.1", "Comm_remote_group": "§7.6.1", "Intercomm_create": "§7.6.2", "Intercomm_merge": "§7.6.2",
	"Comm_rank": "§7.4.1", "Comm_size": "§7.4.1", "Comm_disconnect": "§11.10.4", "Comm_dup": "§7.4.2", "Comm_free": "§7.4.3",
	"GROUP_EMPTY": "§7.2.1", "Group_size": "§7.3.1", "Group_rank": "§7.3.1", "Group_translate_ranks": "§7.3.1", "Group_compare": "§7.3.1",
	"Comm_group": "§7.3.2", "Group_union": "§7.3.2", "Group_intersection": "§7.3.2", "Group_difference": "§7.3.2",
	"Group_incl": "§7.3.2", "Group_excl": "§7.3.2", "Group_range_incl": "§7.3.2", "Group_range_excl": "§7.3.2",
	"IDENT": "§7.3.1", "SIMILAR": "§7.3.1", "UNEQUAL": "§7.3.1", "CONGRUENT": "§7.4.1", "Comm_compare": "§7.4.1",
	"Get_version": "§9.1.1", "Get_library_version": "§9.1.1", "Get_processor_name": "§9.1.2", "TAG_UB": "§9.1.2",
	"Alloc_mem": "§9.2", "Free_mem": "§9.2", "Wtime": "§9.6", "Wtick": "§9.6",
	"Abort": "§11.4.2", "Init": "§11.2.1", "Finalize": "§11.2.2", "Initialized": "§11.2.3", "Finalized": "§11.2.3",
	"Comm_create_group": "§7.4.2", "Comm_create_from_group": "§7.4.2", "Intercomm_create_from_groups": "§7.6.2", "Group_from_session_pset": "§7.3.2",
	"Session": "§11.3", "Session_init": "§11.3.1", "Session_finalize": "§11.3.1", "Session_get_nth_pset": "§11.3.3", "Session_get_pset_info": "§11.3.3", "Session_get_info": "§11.3.3",
	"Session_create_errhandler": "§9.3.4", "Session_set_errhandler": "§9.3.4", "Session_get_errhandler": "§9.3.4", "Session_call_errhandler": "§9.5",
	"Win": "§12.2", "WIN_NULL": "§12.2", "Win_create": "§12.2.1", "Win_allocate": "§12.2.2", "Win_allocate_shared": "§12.2.3", "Win_shared_query": "§12.2.3",
	"Win_create_dynamic": "§12.2.4", "Win_attach": "§12.2.4", "Win_detach": "§12.2.4", "Win_free": "§12.2.5", "Win_get_group": "§12.2.6",
	"WIN_BASE": "§12.2.6", "WIN_SIZE": "§12.2.6", "WIN_DISP_UNIT": "§12.2.6", "WIN_CREATE_FLAVOR": "§12.2.6", "WIN_MODEL": "§12.2.6",
	"WIN_FLAVOR_CREATE": "§12.2.6", "WIN_FLAVOR_ALLOCATE": "§12.2.6", "WIN_FLAVOR_DYNAMIC": "§12.2.6", "WIN_FLAVOR_SHARED": "§12.2.6",
	"Win_set_info": "§12.2.7", "Win_get_info": "§12.2.7", "WIN_UNIFIED": "§12.4", "WIN_SEPARATE": "§12.4",
	"Put": "§12.3.1", "Get": "§12.3.2", "Accumulate": "§12.3.4", "Get_accumulate": "§12.3.4", "Fetch_and_op": "§12.3.4", "Compare_and_swap": "§12.3.4",
	"REPLACE": "§12.3.4", "NO_OP": "§12.3.4", "Rput": "§12.3.5", "Rget": "§12.3.5", "Raccumulate": "§12.3.5", "Rget_accumulate": "§12.3.5",
	"Win_fence": "§12.5.1", "Win_start": "§12.5.2", "Win_complete": "§12.5.2", "Win_post": "§12.5.2", "Win_wait": "§12.5.2", "Win_test": "§12.5.2",
	"Win_lock": "§12.5.3", "Win_lock_all": "§12.5.3", "Win_unlock": "§12.5.3", "Win_unlock_all": "§12.5.3", "LOCK_EXCLUSIVE": "§12.5.3", "LOCK_SHARED": "§12.5.3",
	"Win_flush": "§12.5.4", "Win_flush_all": "§12.5.4", "Win_flush_local": "§12.5.4", "Win_flush_local_all": "§12.5.4", "Win_sync": "§12.5.4",
	"MODE_NOCHECK": "§12.5.5", "MODE_NOSTORE": "§12.5.5", "MODE_NOPUT": "§12.5.5", "MODE_NOPRECEDE": "§12.5.5", "MODE_NOSUCCEED": "§12.5.5",
	"Win_create_errhandler": "§9.3.2", "Win_set_errhandler": "§9.3.2", "Win_get_errhandler": "§9.3.2", "Win_call_errhandler": "§9.5",
	"Win_create_keyval": "§7.7.3", "Win_set_attr": "§7.7.3", "Win_get_attr": "§7.7.3", "Win_delete_attr": "§7.7.3", "Win_free_keyval": "§7.7.3",
	"Win_set_name": "§7.8", "Win_get_name": "§7.8",
	"Type_contiguous": "§5.1.2", "Type_vector": "§5.1.2", "Type_create_hvector": "§5.1.2", "Type_indexed": "§5.1.2", "Type_create_hindexed": "§5.1.2",
	"Type_create_indexed_block": "§5.1.2", "Type_create_hindexed_block": "§5.1.2", "Type_create_struct": "§5.1.2", "Type_create_subarray": "§5.1.3",
	"Type_create_darray": "§5.1.4", "Get_address": "§5.1.5", "Aint_add": "§5.1.5", "Aint_diff": "§5.1.5", "Type_size": "§5.1.5",
	"Type_get_extent": "§5.1.7", "Type_create_resized": "§5.1.7", "Type_get_true_extent": "§5.1.8", "Type_commit": "§5.1.9", "Type_free": "§5.1.9",
	"Type_dup": "§5.1.10", "Get_elements": "§5.1.11", "Type_get_envelope": "§5.1.13", "Type_get_contents": "§5.1.13",
	"Pack": "§5.2", "Unpack": "§5.2", "Pack_size": "§5.2", "Pack_external": "§5.3", "Unpack_external": "§5.3", "Pack_external_size": "§5.3",
	"Type_create_keyval": "§7.7.4", "Type_set_attr": "§7.7.4", "Type_get_attr": "§7.7.4", "Type_delete_attr": "§7.7.4", "Type_free_keyval": "§7.7.4",
	"Type_set_name": "§7.8", "Type_get_name": "§7.8",
	"Grequest_start": "§13.2", "Grequest_complete": "§13.2", "Status_set_elements": "§13.3",
}

// cited is "(MPI_Send, MPI-4.0 §3.2.1" in a comment.
var cited = regexp.MustCompile(`\(MPI_(\w+),\s+MPI-(4\.[01])\s+(§[\d.]*\d)`)

func TestDocsCiteTheSectionOfEachFunction(t *testing.T) {
	n, procedures := 0, readProcedures(t).section
	for _, f := range sources(t) {
		for _, group := range f.Comments {
			for _, m := range cited.FindAllStringSubmatch(group.Text(), -1) {
				n++
				got := m[3]
				if m[2] != "4.0" {
					got = m[2] + " " + got
				}
				want := procedures[m[1]]
				if want == "" {
					want = sections[m[1]]
				}
				if got != want {
					t.Errorf("MPI_%s is cited as %s; it is %q", m[1], got, want)
				}
			}
		}
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if ok && d.Name.IsExported() && d.Doc != nil && regexp.MustCompile(`\bMPI_[A-Z]`).MatchString(d.Doc.Text()) && !cited.MatchString(d.Doc.Text()) {
				t.Errorf("%s names its MPI function without its section", d.Name.Name)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d citations were found", n)
	}
}

// What go doc shows of this package are types that a program can name: none of a package
// that only Weft may import.
func TestGoDocNamesNoPackageThatUsersCannotImport(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	imports, err := exec.Command(goTool, "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	var hidden []string
	for _, p := range strings.Fields(string(imports)) {
		if strings.Contains(p, "/internal/") {
			hidden = append(hidden, path.Base(p))
		}
	}
	shown, err := exec.Command(goTool, "doc", "-all", ".").Output()
	if err != nil || len(hidden) < 5 {
		t.Fatalf("%v, the internal packages are %v", err, hidden)
	}
	for _, named := range regexp.MustCompile(`\b(`+strings.Join(hidden, "|")+`)\.[A-Z]\w*`).FindAllString(string(shown), -1) {
		t.Errorf("go doc shows %s", named)
	}
}
