package spec

import "strings"

// Kind is what an argument is: the word behind its colon in functions.txt, or the name of
// a callback.
type Kind string

// class is what a kind needs to be checked and passed on.
type class int

const (
	integer class = iota
	handle
	pointer // any other, which is an address or NULL
)

// shape is the C of a kind.
type shape struct {
	class class
	base  string // type of the value, and of what a pointer or an array of the kind has; "": none
	large string // the same in Name_c, if it differs
	value string // declaration of an argument by value if it is not base and name: % is the name
}

var shapes = map[Kind]shape{
	"int":    {base: "int"},
	"n":      {base: "int", large: "MPI_Count"},
	"unit":   {base: "int", large: "MPI_Aint"},
	"displ":  {base: "int", large: "MPI_Aint"},
	"aint":   {base: "MPI_Aint"},
	"count":  {base: "MPI_Count"},
	"extent": {base: "MPI_Aint", large: "MPI_Count"},
	"offset": {base: "MPI_Offset"},

	"comm":       {class: handle, base: "MPI_Comm"},
	"group":      {class: handle, base: "MPI_Group"},
	"info":       {class: handle, base: "MPI_Info"},
	"session":    {class: handle, base: "MPI_Session"},
	"win":        {class: handle, base: "MPI_Win"},
	"message":    {class: handle, base: "MPI_Message"},
	"type":       {class: handle, base: "MPI_Datatype"},
	"op":         {class: handle, base: "MPI_Op"},
	"errhandler": {class: handle, base: "MPI_Errhandler"},
	"file":       {class: handle, base: "MPI_File"},
	"request":    {class: handle, base: "MPI_Request"},

	"tenum":         {class: handle, base: "MPI_T_enum"},
	"tcvar":         {class: handle, base: "MPI_T_cvar_handle"},
	"tpvar":         {class: handle, base: "MPI_T_pvar_handle"},
	"tsession":      {class: handle, base: "MPI_T_pvar_session"},
	"tregistration": {class: handle, base: "MPI_T_event_registration"},
	"tinstance":     {class: handle, base: "MPI_T_event_instance"},
	"tsafety":       {base: "MPI_T_cb_safety"},
	"torder":        {base: "MPI_T_source_order"},

	"in":      {class: pointer, value: "const void *%"},
	"out":     {class: pointer, value: "void *%"},
	"ptr":     {class: pointer, value: "void *%"},
	"addr":    {class: pointer, base: "void"},
	"string":  {class: pointer, base: "char", value: "const char *%"},
	"status":  {class: pointer, base: "MPI_Status", value: "const MPI_Status *%"},
	"triples": {class: pointer, value: "int %[][3]"},
	"strings": {class: pointer, value: "char *%[]"},
	"argvs":   {class: pointer, value: "char **%[]"},
	"argc":    {class: pointer, value: "int *%"},
	"argv":    {class: pointer, value: "char ***%"},

	"void":   {base: "void"}, // of results only
	"double": {base: "double"},
}

// Callback reports whether the kind is the name of a callback.
func (k Kind) Callback() bool { return k != "" && k[0] >= 'A' && k[0] <= 'Z' }

// Handle reports whether values of the kind are handles.
func (k Kind) Handle() bool { return shapes[k].class == handle }

// Tool reports whether the kind is one of MPI_T.
func (k Kind) Tool() bool { return k.Handle() && k[0] == 't' && k != "type" }

// C is the type of a value of the kind.
func (k Kind) C() string { return shapes[k].base }

// Access is what a call does with an argument.
type Access int

const (
	Value     Access = iota // a value, or an array that is read
	Output                  // a pointer to what the call writes
	Reference               // a pointer to what it reads and may change
)

// Argument is one of a function or a callback.
type Argument struct {
	Name          string
	Kind          Kind
	Access        Access
	Array         bool
	MayBeNull     bool // the null handle is allowed
	Insignificant bool // in some calls: nothing is known of it before
}

// Declare is the argument as a prototype has it, of Name_c if large; the name may be "".
func (a Argument) Declare(name string, large bool) string {
	if a.Kind.Callback() {
		return "MPI_" + string(a.Kind) + " *" + name
	}
	s := shapes[a.Kind]
	base := s.base
	if large && s.large != "" {
		base = s.large
	}
	switch {
	case a.Array && a.Access == Value:
		return "const " + base + " " + name + "[]"
	case a.Array:
		return base + " " + name + "[]"
	case a.Access != Value:
		return base + " *" + name
	case s.value != "":
		return strings.Replace(s.value, "%", name, 1)
	}
	return strings.TrimSuffix(base+" "+name, " ")
}

// Pointer reports whether C passes an address: integers and handles by value are none.
func (a Argument) Pointer() bool {
	return a.Access != Value || a.Array || a.Kind.Callback() || shapes[a.Kind].class == pointer
}
