package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weft-mpi/weft/mpi"
)

// addresses prints where the ranks of a job would listen over tcp, and why not
// elsewhere. It returns 1 if there is no list.
func addresses(w io.Writer, title string, list []mpi.NetAddress, err error) int {
	fmt.Fprintf(w, "\ntcp, %s\n", title)
	if len(list) == 0 {
		if err == nil { // a machine without an interface has an error
			return 0
		}
		fmt.Fprintf(w, "  not usable: %s\n", indent(err, "  "))
		return 1
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, a := range list {
		var addr, mtu string
		if a.Addr.IsValid() {
			addr = a.Addr.String()
		}
		if a.Interface.MTU > 0 {
			mtu = fmt.Sprint("MTU ", a.Interface.MTU)
		}
		used := "not used: "
		if a.Used {
			used = "used: "
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s%s\n", a.Interface.Name, addr, speed(a.Interface.Speed), mtu, used, a.Why)
	}
	t.Flush()
	if err != nil {
		fmt.Fprintln(w, "  not usable: no address is left")
	}
	return 0
}

// speed puts Mbit/s into words, and 0 into none.
func speed(mbit int) string {
	switch {
	case mbit <= 0:
		return ""
	case mbit < 1000:
		return fmt.Sprint(mbit, " Mb/s")
	}
	return fmt.Sprint(float64(mbit)/1000, " Gb/s")
}
