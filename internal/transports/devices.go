package transports

import "github.com/weft-mpi/weft/fabric/verbs"

// Device is an RDMA device of this machine, DevicePort a port of it, and DeviceGID an
// address of a port.
type (
	Device     = verbs.Device
	DevicePort = verbs.Port
	DeviceGID  = verbs.GID
)

// Devices lists the RDMA devices of this machine, usable or not. The error says
// why there are none or why they can't be queried. Local.
func Devices() ([]Device, error) { return verbs.Devices() }
