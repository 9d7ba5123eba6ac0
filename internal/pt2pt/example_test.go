package pt2pt_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// An MPI layer of one's own: a loop over an opened fabric, an engine on the
// loop, and the addresses of all ranks.
func Example() {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	provider := mem.NewNetwork(2).Provider()
	var domains []fabric.Domain
	var addrs [][]byte
	for rank := range 2 {
		d, err := provider.Open(fabric.Config{Rank: fabric.Peer(rank), Size: 2, Job: "example", Log: log})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer d.Close()
		domains, addrs = append(domains, d), append(addrs, d.Addr())
	}
	var engines []*pt2pt.Engine
	for rank, d := range domains {
		loop := progress.New(progress.Config{Domain: d, Addrs: addrs, Log: log})
		engines = append(engines, pt2pt.New(loop, rank, 2))
		loop.Go() // once all protocols have registered
		defer loop.Close()
	}
	const cid, tag = 4, 7
	in := make([]byte, 16)
	h := engines[1].Irecv(ctx, 0, cid, pt2pt.AnyTag, in)
	if err := engines[0].Send(ctx, pt2pt.Standard, 1, cid, tag, []byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	st, err := progress.Wait(&h)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d says %q with tag %d\n", st.Source, in[:st.Bytes], st.Tag)
	// Output: rank 0 says "hello" with tag 7
}
