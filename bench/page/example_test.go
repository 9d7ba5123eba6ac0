package page_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/weft-mpi/weft/bench/page"
)

func Example() {
	results, err := page.Read(os.DirFS("testdata/results"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range results.Left {
		fmt.Printf("%s: %v\n", l.Name, l.Reason)
	}
	var html bytes.Buffer
	if err := results.WriteHTML(&html, page.Config{Title: "Results"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results.Files(), "files")
	// Output:
	// empty.txt: empty: the program that was to write it has failed
	// notes.txt: parse OSU output: no OSU table in the output
	// truncated.json: no JSON object: unexpected end of JSON input
	// 9 files
}
