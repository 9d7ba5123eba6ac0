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
		"PartitionError": {"Partition", "Partitions"}, "Range": {"First", "Stride", "Last"}, "SizeError": {"Sent", "Received", "SendParts", "ReceiveParts"}, "GoneError": {"Rank", "Remote", "Sends", "Revoked"}, "UnreadError": {"Rank"},
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

// sections are where MPI-4.0 has each type and constant: taken from the tables of
// contents, counted section by section. testdata/procedures.txt has the procedures.
// MPI-4.0 has the blocking send-receive calls in §3.2.7, where MPI-3.1 had §3.10, so
// Null Processes is §3.10 there and §3.11 in MPI-3.1.
var sections = map[string]string{
	"Status": "§3.2.5", "ANY_SOURCE": "§3.2.4", "ANY_TAG": "§3.2.4", "BSEND_OVERHEAD": "§3.6", "Request": "§3.7.1", "REQUEST_NULL": "§3.7.3",
	"Message": "§3.8.2", "MESSAGE_NO_PROC": "§3.8.2", "PROC_NULL": "§3.10",
	"IN_PLACE": "§6.2.1", "ROOT": "§6.2.3", "Op": "§6.9.1", "SUM": "§6.9.2", "PROD": "§6.9.2", "MAX": "§6.9.2", "MIN": "§6.9.2", "LAND": "§6.9.2",
	"LOR": "§6.9.2", "LXOR": "§6.9.2", "BAND": "§6.9.2", "BOR": "§6.9.2", "BXOR": "§6.9.2", "MINLOC": "§6.9.4", "MAXLOC": "§6.9.4",
	"COMM_WORLD": "§7.2.4", "COMM_SELF": "§7.2.4", "COMM_TYPE_SHARED": "§7.4.2", "COMM_TYPE_HW_GUIDED": "§7.4.2", "COMM_TYPE_HW_UNGUIDED": "§7.4.2",
	"MAX_OBJECT_NAME": "§7.8",
	"Errhandler":      "§9.3", "ERRORS_RETURN": "§9.3", "ERRORS_ARE_FATAL": "§9.3", "ERRORS_ABORT": "§9.3", "LASTUSEDCODE": "§9.5", "WTIME_IS_GLOBAL": "§9.1.2",
	"UNIVERSE_SIZE": "§11.10.1", "APPNUM": "§11.10.3",
	"Info": "§10", "MAX_INFO_KEY": "§10", "MAX_INFO_VAL": "§10",
	"INFO_ENV": "§11.2.1", "THREAD_SINGLE": "§11.2.1", "THREAD_FUNNELED": "§11.2.1", "THREAD_SERIALIZED": "§11.2.1", "THREAD_MULTIPLE": "§11.2.1",
	"GROUP_EMPTY": "§7.2.1", "IDENT": "§7.3.1", "SIMILAR": "§7.3.1", "UNEQUAL": "§7.3.1", "CONGRUENT": "§7.4.1",
	"TAG_UB":  "§9.1.2",
	"Session": "§11.3",
	"Win":     "§12.2", "WIN_NULL": "§12.2", "WIN_BASE": "§12.2.6", "WIN_SIZE": "§12.2.6", "WIN_DISP_UNIT": "§12.2.6", "WIN_CREATE_FLAVOR": "§12.2.6",
	"WIN_MODEL": "§12.2.6", "WIN_FLAVOR_CREATE": "§12.2.6", "WIN_FLAVOR_ALLOCATE": "§12.2.6", "WIN_FLAVOR_DYNAMIC": "§12.2.6",
	"WIN_FLAVOR_SHARED": "§12.2.6", "WIN_UNIFIED": "§12.4", "WIN_SEPARATE": "§12.4", "REPLACE": "§12.3.4", "NO_OP": "§12.3.4", "LOCK_EXCLUSIVE": "§12.5.3",
	"LOCK_SHARED": "§12.5.3", "MODE_NOCHECK": "§12.5.5", "MODE_NOSTORE": "§12.5.5", "MODE_NOPUT": "§12.5.5", "MODE_NOPRECEDE": "§12.5.5",
	"MODE_NOSUCCEED": "§12.5.5", "CART": "§8.5.5", "GRAPH": "§8.5.5", "DIST_GRAPH": "§8.5.5",
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
