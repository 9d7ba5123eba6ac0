package shm

import (
	"fmt"
	"strconv"

	"github.com/weft-mpi/weft/fabric"
)

// From some size on a message is read from its sender's memory, in a system
// call, and no longer sent in pieces through the ring, which copies it twice.
// The size is the same on all ranks of a host. It is what the user says, or what
// one rank finds (Weigh), which is one of a few sizes far apart, so that every run
// finds the same: whether a Send of a given length waits for its receive depends
// on it.

// GetMinVar is the option that sets the size in bytes, 49 to 1048576.
const GetMinVar = "WEFT_SHM_GET_MIN"

// GetMin is the size from which messages between processes of a machine are read
// from their sender's memory, as options have it, in bytes, or 0 if they say
// nothing. The error names the option and the remedy. Local.
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

// SetGetMin makes Caps say from which size messages are read, in bytes, if the
// options do not. It is for the time before the first message; the ranks of
// a host should have the same.
func (d *Domain) SetGetMin(n int) {
	if !d.getMinSaid {
		d.caps.RndvMin = min(max(n, leastGetMin), mostGetMin)
	}
}
