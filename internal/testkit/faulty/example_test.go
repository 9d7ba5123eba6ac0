package faulty_test

import (
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/faulty"
)

func ExampleProvider() {
	difficult := faulty.Provider(mem.NewNetwork(1).Provider(), 1, faulty.Faults{Again: 128})
	d, err := difficult.Open(fabric.Config{Size: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	self, err := d.Connect(0, d.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	accepted, refused := 0, 0
	for accepted < 100 {
		if err := self.Send(1, 0, nil, nil); err == fabric.ErrAgain {
			refused++
		} else {
			accepted++
		}
	}
	fmt.Println("refused some:", refused > 20)
	// Output: refused some: true
}
