package mem_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

func ExampleSim() {
	s := mem.NewSim(rand.New(rand.NewPCG(1, 2)), mem.SimConfig{Size: 2, Depth: 4, Caps: fabric.Caps{MaxEager: 64}})
	a, err := s.Open(s.Config(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	b, err := s.Open(s.Config(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	to1, err := a.Connect(1, b.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(to1.Send(1, 0, nil, []byte("hello")))
	fmt.Println("polled", b.Poll(printer{}, 8))
	for _, m := range s.Moves() {
		fmt.Println(m)
	}
	s.Step()
	fmt.Println("polled", b.Poll(printer{}, 8))
	// Output:
	// <nil>
	// polled 0
	// arrive at 1 from 0
	// rank 0 says "hello"
	// polled 1
}
