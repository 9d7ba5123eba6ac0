package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Two ranks serve three others. A client's messages go to the ranks of the servers, and
// a server learns the client's rank among the clients.
func ExampleIntercommCreate() {
	err := mpi.Run(5, func(w *mpi.World) error {
		c := w.Comm()
		const servers, clients = 0, 1
		side, other := servers, 2 // rank 2 leads the clients, rank 0 the servers
		if c.Rank() >= 2 {
			side, other = clients, 0
		}
		mine, err := c.Split(side, c.Rank())
		if err != nil {
			return err
		}
		x, err := mpi.IntercommCreate(mine, 0, c, other, 1)
		if err != nil {
			return err
		}
		if side == clients {
			return mpi.Send(x, []int{10 * x.Rank()}, x.Rank()%x.RemoteSize(), 0)
		}
		if x.Rank() == 1 {
			n := []int{0}
			st, err := mpi.Recv(x, n, mpi.AnySource, 0)
			if err != nil {
				return err
			}
			fmt.Println("server", x.Rank(), "of", x.Size(), "got", n[0], "from client", st.Source, "of", x.RemoteSize())
			return nil
		}
		for range 2 {
			if _, err := mpi.Recv(x, []int{0}, mpi.AnySource, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: server 1 of 2 got 10 from client 1 of 3
}

// One rank of the first group has a word for all ranks of the second one.
func ExampleBcast_intercommunicator() {
	err := mpi.Run(4, func(w *mpi.World) error {
		c := w.Comm()
		side := c.Rank() / 2
		mine, err := c.Split(side, 0)
		if err != nil {
			return err
		}
		x, err := mpi.IntercommCreate(mine, 0, c, 2-2*side, 0)
		if err != nil {
			return err
		}
		switch {
		case side == 0 && x.Rank() == 1:
			return mpi.Bcast(x, []byte("word"), mpi.Root)
		case side == 0:
			return mpi.Bcast[byte](x, nil, mpi.ProcNull)
		}
		word := make([]byte, 4)
		if err := mpi.Bcast(x, word, 1); err != nil {
			return err
		}
		if x.Rank() == 1 {
			fmt.Printf("%s\n", word)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: word
}

// Both groups become one: those that are high come last.
func ExampleComm_Merge() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		first := c.Rank() == 0 // alone in its group
		side, other := 1, 0
		if first {
			side, other = 0, 1
		}
		mine, err := c.Split(side, 0)
		if err != nil {
			return err
		}
		x, err := mpi.IntercommCreate(mine, 0, c, other, 0)
		if err != nil {
			return err
		}
		all, err := x.Merge(first)
		if err != nil {
			return err
		}
		if first {
			fmt.Println("rank 0 is now rank", all.Rank(), "of", all.Size())
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 0 is now rank 2 of 3
}
