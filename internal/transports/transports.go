package transports

import (
	"slices"
	"strings"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/tcp"
	"github.com/weft-mpi/weft/fabric/verbs"
)

// reach is the set of ranks that a transport connects, the least first.
type reach uint8

const (
	process reach = iota // goroutines of one process
	machine              // processes of one machine
	network
)

// transport is a row of the table.
type transport struct {
	name  string // as its Provider's
	reach reach
	// provider returns the Provider for ranks of this process.
	provider func(ranks int) fabric.Provider
}

// table is a list of transports: the nearer first, and of the same reach the
// better first.
type table []transport

// transports are all transports.
var transports = table{
	{"mem", process, func(ranks int) fabric.Provider { return mem.NewNetwork(ranks).Provider() }},
	{"shm", machine, func(int) fabric.Provider { return shm.Provider{} }},
	{"verbs", network, func(int) fabric.Provider { return verbs.Provider{Arena: arena{}} }},
	{"tcp", network, func(int) fabric.Provider { return tcp.Provider{} }},
}

// Auto is the fabric if the user names none.
const Auto = "auto"

// Fabrics lists the names of all fabrics: Auto, each transport, and each way to
// join transports between processes. The caller owns the list. Local.
func Fabrics() []string { return transports.fabrics() }

// Check returns a NameError if name is not one of Fabrics. Local.
func Check(name string) error {
	_, err := transports.parse(name)
	return err
}

func (t table) fabrics() []string {
	names := []string{Auto}
	for _, tr := range t {
		names = append(names, tr.name)
	}
	between := slices.DeleteFunc(slices.Clone(t), func(tr transport) bool { return tr.reach == process })
	return append(names, between.joined()...)
}

// joined lists the fabrics of two transports and more, each in the order of t.
func (t table) joined() (names []string) {
	for i, tr := range t {
		rest := t[i+1:]
		for _, r := range rest {
			names = append(names, tr.name+"+"+r.name)
		}
		for _, r := range rest.joined() {
			names = append(names, tr.name+"+"+r)
		}
	}
	return names
}

// name is the fabric of all transports of t.
func (t table) name() string {
	var names []string
	for _, tr := range t {
		names = append(names, tr.name)
	}
	return strings.Join(names, "+")
}

// parse splits a fabric's name into its transports. Auto has none.
func (t table) parse(name string) (parts table, err error) {
	if !slices.Contains(t.fabrics(), name) {
		return nil, &NameError{Name: name, Names: t.fabrics()}
	}
	for part := range strings.SplitSeq(name, "+") {
		for _, tr := range t {
			if tr.name == part {
				parts = append(parts, tr)
			}
		}
	}
	return parts, nil
}

// within are the transports of some reaches.
func (t table) within(least, most reach) table {
	return slices.DeleteFunc(slices.Clone(t), func(tr transport) bool { return tr.reach < least || tr.reach > most })
}
