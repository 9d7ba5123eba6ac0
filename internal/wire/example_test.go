package wire_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/wire"
)

func Example() {
	var b [wire.RTSSize]byte
	h := wire.MakeRTS(b[:], 0x7f00_0000_1000, 1<<20, 0, 42, 0)
	// The receiver has the header as plain bytes.
	if got := wire.RTSHeader([]byte(h)); got.Valid() {
		cid, tag := wire.Match(wire.Imm(3, 7))
		fmt.Printf("%d bytes at %#x for context %d, tag %d\n", got.Length(), got.Addr(), cid, tag)
	}
	// Output: 1048576 bytes at 0x7f0000001000 for context 3, tag 7
}
