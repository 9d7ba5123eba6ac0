package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weft-mpi/weft/mpi"
)

// protocols prints how messages of each length go over a transport.
func protocols(w io.Writer, transport string, list []mpi.Protocol, err error) {
	fmt.Fprintf(w, "\nmessages over %s\n", transport)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range list {
		of := ""
		if p.Alloc {
			of = " of mpi.Alloc"
		}
		fmt.Fprintf(t, "  from %d bytes%s\t%s\t%s (%s)\n", p.From, of, p.Way, p.What, p.Why)
	}
	t.Flush()
	if err != nil {
		fmt.Fprintf(w, "  not known: %s\n", indent(err, "  "))
	}
}

// algorithms prints how collective calls choose their algorithms.
func algorithms(w io.Writer, list []mpi.Algorithm) {
	for _, groups := range []struct {
		between bool
		title   string
	}{{false, "collective calls: the first algorithm of a call that applies"}, {true, "collective calls between two groups"}} {
		fmt.Fprintf(w, "\n%s\n", groups.title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		last := ""
		for _, a := range list {
			if a.Between != groups.between {
				continue
			}
			call, when := a.Call, a.When
			if call == last {
				call = ""
			}
			switch {
			case when == "" && call == "":
				when = "else"
			case when == "":
				when = "always"
			}
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", call, a.Name, when, a.Why)
			last = a.Call
		}
		t.Flush()
	}
}
