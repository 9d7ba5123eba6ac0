package job

import "github.com/weft-mpi/weft/fabric/verbs"

// Device is an RDMA device of this machine, DevicePort a port of it, DeviceGID an
// address of a port, and DeviceRendezvous how a port moves large messages.
type (
	Device           = verbs.Device
	DevicePort       = verbs.Port
	DeviceGID        = verbs.GID
	DeviceRendezvous = verbs.Rendezvous
)

// Devices lists the RDMA devices of this machine, usable or not. The error says
// why there are none or why they can't be asked. Local.
func Devices() ([]Device, error) { return verbs.Devices() }
