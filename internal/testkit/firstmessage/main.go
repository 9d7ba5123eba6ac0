// Command firstmessage is a job whose ranks start, meet, send one message and end:
// scripts/launch-time starts it and its twin in C, bench/peers/first_message.c.
//
//	weft run -n 2 firstmessage START
//
// START is a time in nanoseconds since 1970, from before the launch. Rank 0 prints the
// milliseconds from then until it has the first message, which the last rank sends.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	if err := mpi.Run(0, first); err != nil {
		log.Fatal(err)
	}
}

func first(w *mpi.World) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("%d arguments, want the time of the launch", len(os.Args)-1)
	}
	start, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		return err
	}
	c, b := w.Comm(), []byte{1}
	switch last := c.Size() - 1; {
	case last > 0 && c.Rank() == last:
		err = mpi.Send(c, b, 0, 0)
	case last > 0 && c.Rank() == 0:
		_, err = mpi.Recv(c, b, last, 0)
	}
	if err == nil && c.Rank() == 0 {
		fmt.Printf("%.3f\n", float64(time.Now().UnixNano()-start)/1e6)
	}
	if err == nil {
		err = c.Barrier()
	}
	return err
}
