package verbs

import (
	"errors"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// A device reaches memory of this rank over a queue pair, by a registration of
// the same protection domain. To end either is enough: what arrives on a queue
// pair that is destroyed is dropped, and so is the answer to what it had begun;
// what names a registration that has ended is refused. So where the device, or
// the kernel, refuses to destroy a queue pair, registrations end in its place;
// where it refuses to end a registration, the memory is given to nobody else.

// undestroyedQP is a queue pair that the device would not destroy.
type undestroyedQP struct {
	port int
	qp   ibv.QP
}

// destroyQP destroys a queue pair of a port, if there is one (id 0: none):
// afterwards the device uses no memory for it. Where the device refuses, no
// registration outlives its holder any more, so that memory is out of reach when
// the request that it was registered for has ended; Close tries again. For any
// goroutine.
func (d *Domain) destroyQP(port int, q ibv.QP) error {
	if q.Handle == 0 {
		return nil
	}
	err := d.hcaAt(port).DestroyQP(q)
	if err == nil {
		return nil
	}
	d.mu.Lock()
	d.undestroyed = append(d.undestroyed, undestroyedQP{port, q})
	d.mu.Unlock()
	d.regions.KeepNone()
	d.cfg.Log.Error("verbs: a queue pair can't be destroyed; registrations are kept for nobody from now on",
		"device", d.infoAt(port).device, "err", err)
	return err
}

// retryDestroy tries once more.
func (d *Domain) retryDestroy() (err error) {
	d.mu.Lock()
	undestroyed := d.undestroyed
	d.undestroyed = nil
	d.mu.Unlock()
	for _, c := range undestroyed {
		err = errors.Join(err, d.hcaAt(c.port).DestroyQP(c.qp))
	}
	return err
}
