package mpi

import (
	"log/slog"
	"os"
	"sync"

	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/verbs"
)

// Device is an RDMA device of this machine, with its ports, addresses, and what
// keeps the fabric verbs from using it.
type Device = verbs.Device

// DevicePort is a port of a Device, and DeviceGID an address of a port.
type (
	DevicePort = verbs.Port
	DeviceGID  = verbs.GID
)

// arena is the memory of Alloc, for the fabric that registers it.
type arena struct{}

func (arena) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	return shm.Allocation(addr)
}
func (arena) OnFree(f func(start uintptr)) (cancel func()) { return shm.OnFree(f) }

// Devices lists the RDMA devices of this machine, usable or not. The error says
// why there are none or why they can't be asked. Local.
func Devices() ([]Device, error) { return verbs.Devices() }

// SharedGetMin is the length in bytes from which shared memory has the receiver
// read a message from its sender's memory, where a Send waits for its receive:
// WEFT_SHM_GET_MIN, or what a measurement of some milliseconds finds, which is a
// default where the processors are too busy for it. A job measures it once on each
// host. Local.
func SharedGetMin() (int, error) {
	n, err := shm.GetMin(os.Getenv)
	if err == nil && n == 0 {
		n, err = weigh()
		if err != nil {
			slog.Debug(unweighed, "err", err)
			err = nil
		}
	}
	return n, fail("SharedGetMin", err)
}

// weigh measures, once, from which length on messages of this machine should be
// read, in bytes.
var weigh = sync.OnceValues(shm.Weigh)

// unweighed is what to say where that failed.
const unweighed = "it was not measured from which length on messages are read; a default is taken"

// FabricAvailable says why a fabric of Fabrics can't be used on this machine and
// what to do about it, or nil. Local.
func FabricAvailable(name string) error {
	ts, err := parse("FabricAvailable", name)
	if err != nil {
		return err
	}
	for _, t := range ts {
		if err := t.open(1).Available(); err != nil {
			return err
		}
	}
	return nil
}
