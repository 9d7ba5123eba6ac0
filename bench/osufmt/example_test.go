package osufmt_test

import (
	"fmt"
	"os"

	"github.com/weft-mpi/weft/bench/osufmt"
)

func ExampleWriter() {
	w := osufmt.NewWriter(os.Stdout)
	w.Title(osufmt.Title{Name: "OSU MPI Bandwidth Test", Tight: true})
	w.Section(osufmt.Section{Datatype: "MPI_CHAR", Columns: []osufmt.Column{osufmt.Bandwidth}})
	w.Row(osufmt.Row{Size: 1, Values: []float64{10.25}})
	// Output:
	// # OSU MPI Bandwidth Test v7.4
	// # Datatype: MPI_CHAR.
	// # Size      Bandwidth (MB/s)
	// 1                      10.25
}

func ExampleParse() {
	t, err := osufmt.Parse([]byte("# Size       Avg Latency(us)\n8                       0.15\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	s := t.Sections[0]
	fmt.Println(s.Columns[0].Name, s.Columns[0].Better, s.Rows)
	// Output: Avg Latency(us) lower is better [{8 [0.15]}]
}
