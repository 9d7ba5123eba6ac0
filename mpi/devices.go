package mpi

import "github.com/weft-mpi/weft/job"

// Device is an RDMA device of this machine, with its ports, addresses, and what
// keeps the fabric verbs from using it.
type Device = job.Device

// DevicePort is a port of a Device, and DeviceGID an address of a port.
type (
	DevicePort = job.DevicePort
	DeviceGID  = job.DeviceGID
)

// Devices lists the RDMA devices of this machine, usable or not. The error says
// why there are none or why they can't be asked. Local.
func Devices() ([]Device, error) { return job.Devices() }

// SharedGetMin is the length in bytes from which shared memory has the receiver
// read a message from its sender's memory, where a Send waits for its receive:
// WEFT_SHM_GET_MIN, or what a measurement of some milliseconds finds, which is a
// default where the processors are too busy for it. A job measures it once on each
// host. Local.
func SharedGetMin() (int, error) {
	n, err := job.SharedGetMin()
	return n, fail("SharedGetMin", err)
}

// Fabrics lists the names that WithFabric takes.
func Fabrics() []string { return job.Fabrics() }

// FabricAvailable says why a fabric of Fabrics can't be used on this machine and
// what to do about it, or nil. Local.
func FabricAvailable(name string) error {
	if err := job.Check(name); err != nil {
		return fail("FabricAvailable", err)
	}
	return job.Available(name)
}
