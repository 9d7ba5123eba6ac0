package mem_test

import (
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

type printer struct{}

func (printer) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	fmt.Printf("rank %d says %q\n", from, body)
}
func (printer) Complete(op fabric.Op, err error)  {}
func (printer) PeerDown(p fabric.Peer, err error) { fmt.Println(err) }

func Example() {
	network := mem.NewNetwork(2)
	var ranks []fabric.Domain
	for r := range 2 {
		d, err := network.Provider().Open(fabric.Config{
			Rank: fabric.Peer(r), Size: 2, Job: "example", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer d.Close()
		ranks = append(ranks, d)
	}
	to1, err := ranks[0].Connect(1, ranks[1].Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := to1.Send(1, 0, nil, []byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	ranks[1].Poll(printer{}, 8)
	network.Kill(0)
	ranks[1].Poll(printer{}, 8)
	// Output:
	// rank 0 says "hello"
	// rank was killed (rank 0): fabric: peer is down
}
