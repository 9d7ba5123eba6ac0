package verbs

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// openRegions makes memory registrable with all ports.
func (d *Domain) openRegions() {
	o := pin.Options{Device: d.hca, Table: d.keysMem, Sign: pin.NewSigner(d.token), Cache: d.cfg.Options[envCache] != "0", Log: d.cfg.Log}
	for _, p := range d.ports {
		o.More = append(o.More, p.hca)
	}
	d.regions.Open(o)
}

// Register makes b known to the device. Memory of the Go heap that peers can
// at most read is looked for in the cache first, and a hit neither allocates
// nor blocks; else the kernel pins the pages.
func (d *Domain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	if d.closed.Load() {
		return fabric.Region{}, fabric.ErrClosed
	}
	return d.regions.Register(b, a)
}

// Deregister ends a registration. When it returns peers can't write to the
// memory any more; memory that they could only read may stay in the cache, and
// that of an arena stays registered until it is freed. Where the device refuses,
// the memory stays out of use.
func (d *Domain) Deregister(g fabric.Region) error { return d.regions.Deregister(g) }

// Mapped is false: a device stands between the ranks.
func (d *Domain) Mapped([]byte) bool { return false }
