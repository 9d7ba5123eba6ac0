package shm

import (
	"fmt"
	"strconv"

	"github.com/weft-mpi/weft/fabric"
)

// From some size on a receiver reads a message from its sender's memory, in a
// system call, instead of getting it in pieces through the ring, which copies it
// twice. The size is the same on all ranks of a host. The user sets it, or one
// rank measures it (Weigh). The measurement chooses among a few sizes far apart,
// so that every run chooses the same: whether a Send of a given length waits for
// its receive depends on it.

// GetMinVar is the option that sets the size in bytes, 49 to 1048576.
const GetMinVar = "WEFT_SHM_GET_MIN"

// GetMin is the size in bytes from which messages between processes of a machine
// are read from their sender's memory, as set in options, or 0 if it is not set.
// The error names the option and the remedy. Local.
func (Provider) GetMin(options map[string]string) (int, error) {
	v := options[GetMinVar]
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < leastGetMin || n > mostGetMin {
		return 0, &fabric.Error{Op: "read " + GetMinVar, Err: fmt.Errorf("%q is not a number of bytes from %d to %d", v, leastGetMin, mostGetMin),
			Remedy: "unset it, so that it is measured"}
	}
	return n, nil
}

// SetGetMin sets the size in Caps from which messages are read, in bytes, unless
// the options set it. Call it before the first message, with the same size on
// all ranks of a host.
func (d *Domain) SetGetMin(n int) {
	if !d.getMinSaid {
		d.caps.RndvMin = min(max(n, leastGetMin), mostGetMin)
	}
}

// Check returns an error about an option that can't be used, or nil. Local.
func (p Provider) Check(options map[string]string) error {
	_, err := p.GetMin(options)
	return err
}
