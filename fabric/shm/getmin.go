package shm

import (
	"fmt"
	"strconv"

	"github.com/weft-mpi/weft/fabric"
)

// From some size on a message is read from its sender's memory, in a system
// call, and no longer sent in pieces through the ring, which copies it twice.
// The size is the same on all machines, ranks and runs: whether a Send of a
// given length waits for its receive does not depend on what a measurement has
// found.
const (
	// DefaultGetMin is that size in bytes.
	DefaultGetMin = 16 << 10
	// leastGetMin and mostGetMin bound what a user may set: below, a message is in
	// one packet anyway; above, the pieces of a message would fill the ring.
	leastGetMin = maxInline + 1
	mostGetMin  = 1 << 20
)

// GetMinVar is the environment variable that sets the size in bytes.
const GetMinVar = "WEFT_SHM_GET_MIN"

// GetMin is the size from which messages between processes of a machine are read
// from their sender's memory, as the environment has it or DefaultGetMin, in
// bytes. All ranks of a job should have the same.
func GetMin(getenv func(string) string) (int, error) {
	v := getenv(GetMinVar)
	if v == "" {
		return DefaultGetMin, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < leastGetMin || n > mostGetMin {
		return 0, &fabric.Error{Op: "read " + GetMinVar, Err: fmt.Errorf("%q is not a number of bytes from %d to %d", v, leastGetMin, mostGetMin),
			Remedy: "unset it for the default, " + strconv.Itoa(DefaultGetMin)}
	}
	return n, nil
}
