package mpi_test

import (
	"go/ast"
	"os/exec"
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
		"Comm":        {"func (c *Comm) Free() error", "func (c *Comm) Rank() int"},
		"World":       {"func Init(", "func (w *World) Finalize() error"},
		"Error":       {"Class Class", "Call", "Err"},
		"Partitioned": {"func Partitions(r Request) *Partitioned", "func (p *Partitioned) Ready(i int) error", "Arriving("},
		// These are other packages' types: the words tell their fields.
		"TruncateError": {"Length", "Room"}, "NoBufferError": {"Need", "Free", "Size"}, "LimitError": {"Held", "Limit", "After"},
		"FabricError": {"Op", "Peer", "HasPeer", "Remedy", "Err"}, "EnvError": {"Var", "Value", "Remedy"}, "LostError": {"Rank", "Reason"},
		"PartitionError": {"Partition", "Partitions"}, "SizeError": {"Sent", "Received", "SendParts", "ReceiveParts"},
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
	"Barrier": "§6.3", "ROOT": "§6.2.3",
	"COMM_WORLD": "§7.2.4", "Comm_rank": "§7.4.1", "Comm_size": "§7.4.1", "Comm_dup": "§7.4.2", "Comm_free": "§7.4.3",
	"Get_version": "§9.1.1", "Get_library_version": "§9.1.1", "Get_processor_name": "§9.1.2", "TAG_UB": "§9.1.2",
	"Alloc_mem": "§9.2", "Free_mem": "§9.2", "Wtime": "§9.6", "Wtick": "§9.6",
	"Abort": "§11.4.2", "Init": "§11.2.1", "Finalize": "§11.2.2", "Initialized": "§11.2.3", "Finalized": "§11.2.3",
	"Grequest_start": "§13.2", "Grequest_complete": "§13.2", "Status_set_elements": "§13.3",
}

// cited is "(MPI_Send, MPI-4.0 §3.2.1" in a comment.
var cited = regexp.MustCompile(`\(MPI_(\w+),\s+MPI-(4\.[01])\s+(§[\d.]*\d)`)

func TestDocsCiteTheSectionOfEachFunction(t *testing.T) {
	n := 0
	for _, f := range sources(t) {
		for _, group := range f.Comments {
			for _, m := range cited.FindAllStringSubmatch(group.Text(), -1) {
				n++
				got := m[3]
				if m[2] != "4.0" {
					got = m[2] + " " + got
				}
				if want := sections[m[1]]; got != want {
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
