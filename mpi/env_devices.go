package mpi

import (
	"github.com/weft-mpi/weft/fabric/tcp"
	"github.com/weft-mpi/weft/fabric/verbs"
	"github.com/weft-mpi/weft/internal/transports"
)

// Device is an RDMA device of this machine, with its ports, its addresses, and
// the reasons why the fabric verbs can't use it.
type Device = verbs.Device

// DevicePort is a port of a Device, and DeviceGID an address of a port.
type (
	DevicePort = verbs.Port
	DeviceGID  = verbs.GID
)

// Devices lists the RDMA devices of this machine, usable or not. The error,
// ErrOther, says why there are none or why they can't be queried. Local.
func Devices() ([]Device, error) {
	list, err := transports.Devices()
	return list, fail("Devices", err)
}

// NetInterface is a network interface of this machine.
type NetInterface = tcp.Interface

// NetAddress is an address of a NetInterface, with the reason why the fabric tcp
// uses it or does not.
type NetAddress = tcp.Choice

// NetAddresses lists the addresses of this machine as the fabric tcp chooses among
// them for a job whose ranks are all on one host, or on several: those that it
// uses first, in the order in which peers try them. WEFT_TCP_IF is obeyed, and its
// names that do not exist are listed too. The error, ErrUnsupported or for a wrong
// WEFT_TCP_IF ErrOther, says why no address is used; there may be a list all the same.
// The caller owns the list. Local.
func NetAddresses(oneHost bool) ([]NetAddress, error) {
	list, err := transports.NetAddresses(oneHost)
	return list, fail("NetAddresses", err)
}

// SharedGetMin is the length in bytes from which, over shared memory, a receiver
// reads a message from its sender's memory, and a Send waits for its receive. It
// is WEFT_SHM_GET_MIN, or the result of a measurement of some milliseconds, or a
// default where the processors are too busy for that. A job measures it once on
// each host. It fails with ErrUnsupported without shared memory, and ErrOther for a
// wrong WEFT_SHM_GET_MIN. Local.
func SharedGetMin() (int, error) {
	t, err := transports.SharedThreshold()
	return t.Bytes, fail("SharedGetMin", err)
}

// Fabrics lists the names that WithFabric takes. Local.
func Fabrics() []string { return transports.Fabrics() }

// FabricAvailable returns nil, or why a fabric of Fabrics can't be used on this
// machine and what to do about it. An unknown name is ErrArg; other errors are
// ErrUnsupported or ErrOther. Local.
func FabricAvailable(name string) error {
	err := transports.Check(name)
	if err == nil {
		err = transports.Available(name)
	}
	return fail("FabricAvailable", err)
}
