package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weft-mpi/weft/mpi"
)

// configuration prints each setting with its value and its origin. refused is why Init
// would refuse this environment, or nil.
func configuration(w io.Writer, list []mpi.Setting, refused error) {
	table := func(title string, variables bool) {
		fmt.Fprintln(w, title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, s := range list {
			name := s.Variable
			name = cmp.Or(name, "mpi."+s.Option)
			if (s.Variable != "") == variables {
				fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", name, s.Origin, s.Value, s.What)
			}
		}
		t.Flush()
	}
	table("variables: origin, value", true)
	for _, s := range list {
		if s.Err != nil && s.Origin == mpi.FromEnvironment {
			fmt.Fprintf(w, "  %s can't be used: %s\n", s.Variable, indent(s.Err, "    "))
		} else if s.Err != nil {
			fmt.Fprintf(w, "  %s is not measured: %s\n", s.Variable, indent(s.Err, "    "))
		}
	}
	if refused != nil {
		fmt.Fprintf(w, "  a program would not start here: %s\n", indent(refused, "    "))
	}
	table("\noptions in code without a variable (what a program sets is not known here: mpi.Settings)", false)
}
