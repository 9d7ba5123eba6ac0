package greet

import (
	"net"
	"slices"
	"sync"
)

// places are the connections that count, oldest first. One more than the most
// takes the place of the oldest, whose connection is closed: a process that holds
// places by saying nothing, or little at a time, does not keep out those that say
// at once what they have to.
type places struct {
	mu   sync.Mutex
	most int
	list []*Guest
}

// Guest is a connection that a Server has accepted.
type Guest struct {
	net.Conn
	known *places // of the Doors
	in    *places // where it counts, nil if it does not; guarded by in.mu
}

// take gives g a place here, perhaps that of another.
func (p *places) take(g *Guest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == p.most {
		p.list[0].Close()
		p.list[0].in = nil
		p.list = slices.Delete(p.list, 0, 1)
	}
	p.list = append(p.list, g)
	g.in = p
}

// leave takes g's place away. It returns false if another has it already.
func (p *places) leave(g *Guest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.in != p {
		return false
	}
	i := slices.Index(p.list, g)
	p.list = slices.Delete(p.list, i, i+1)
	g.in = nil
	return true
}
