package greet

import (
	"net"
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

// take gives g a place here. It reports whether that took one from another.
func (p *places) take(g *Guest) (evicted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if evicted = len(p.list) == p.most; evicted {
		p.list[0].Close()
		p.list[0].in = nil
		p.list = p.list[:copy(p.list, p.list[1:])]
	}
	p.list = append(p.list, g)
	g.in = p
	return evicted
}

// leave takes g's place away. It returns false if another has it already.
func (p *places) leave(g *Guest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.in != p {
		return false
	}
	for i, o := range p.list {
		if o == g {
			copy(p.list[i:], p.list[i+1:])
			p.list[len(p.list)-1] = nil
			p.list = p.list[:len(p.list)-1]
			break
		}
	}
	g.in = nil
	return true
}
