package transports

import "github.com/weft-mpi/weft/fabric/verbs"

// Devices lists the RDMA devices of this machine, usable or not. The error says
// why there are none or why they can't be queried. Local.
func Devices() ([]verbs.Device, error) { return verbs.Devices() }
