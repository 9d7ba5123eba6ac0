package progress

import (
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// closedDomain stands in for the domain of a loop that has been closed: whoever
// is still inside the loop, or enters it, finds nothing to do and does not
// touch what the domain's own Close releases.
type closedDomain struct{ fabric.Domain }

func (closedDomain) Connect(fabric.Peer, []byte) (fabric.Endpoint, error) {
	return nil, fabric.ErrClosed
}

func (closedDomain) Register([]byte, fabric.Access) (fabric.Region, error) {
	return fabric.Region{}, fabric.ErrClosed
}

func (closedDomain) Deregister(fabric.Region) error { return fabric.ErrClosed }
func (closedDomain) Poll(fabric.Handler, int) int   { return 0 }
func (closedDomain) Arm(fabric.Wake) error          { return fabric.ErrClosed }
func (closedDomain) Disarm()                        {}
func (closedDomain) Wait(time.Duration) error       { return fabric.ErrClosed }
func (closedDomain) Wake()                          {}
func (closedDomain) Close() error                   { return fabric.ErrClosed }

// terminate takes the domain away and ends every request and every peer. Under
// ownership.
func (l *Loop) terminate() {
	l.over, l.armed, l.dom, l.more = true, 0, closedDomain{l.dom}, nil
	for i := range l.conns {
		c := &l.conns[i]
		c.drop()
		c.dom = closedDomain{c.dom}
		if c.down == nil {
			c.down = fabric.ErrClosed
		}
	}
	l.requests.each(l.Refuse)
}
