package tcpproxy

import (
	"net"
	"sync"
)

// Relay listens on this machine and connects whoever calls it with one address.
type Relay struct {
	listener *net.TCPListener
	to       string
	plan     func(n int) []Fault

	mu     sync.Mutex // guards what follows
	conns  []*Conn
	calls  sync.Cond // a connection was added
	closed bool
	wg     sync.WaitGroup
}

// New begins to relay to an address, host:port. plan is asked what befalls the n-th
// connection, from 0, before its first byte; nil is nothing. It is called by one
// goroutine at a time. The caller closes the Relay.
func New(to string, plan func(n int) []Fault) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: l.(*net.TCPListener), to: to, plan: plan}
	r.calls.L = &r.mu
	r.wg.Go(r.accept)
	return r, nil
}

// Addr is where the relay listens, host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Conn waits for the n-th connection, from 0. It returns nil if the relay is closed
// before there are so many.
func (r *Relay) Conn(n int) *Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.conns) <= n && !r.closed {
		r.calls.Wait()
	}
	if len(r.conns) <= n {
		return nil
	}
	return r.conns[n]
}

// Conns are the connections there have been.
func (r *Relay) Conns() []*Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Conn(nil), r.conns...)
}

// Do does one thing to each connection there is and each that comes.
func (r *Relay) Do(what Action, d Direction) {
	r.mu.Lock()
	earlier := r.plan
	n := len(r.conns)
	r.plan = func(n int) []Fault {
		var fs []Fault
		if earlier != nil {
			fs = earlier(n)
		}
		return append(fs, Fault{Dir: d, Do: what})
	}
	conns := r.conns[:n:n]
	r.mu.Unlock()
	for _, c := range conns {
		c.Do(what, d)
	}
}

// Close ends all connections and waits for the relay's goroutines.
func (r *Relay) Close() {
	r.listener.Close()
	r.mu.Lock()
	r.closed = true
	r.calls.Broadcast()
	conns := r.conns
	r.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
	r.wg.Wait()
}

func (r *Relay) accept() {
	for {
		near, err := r.listener.AcceptTCP()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil { // as the dialler sees it: nobody there
			near.SetLinger(0)
			near.Close()
			continue
		}
		c := newConn(near, far.(*net.TCPConn))
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			c.close()
			return
		}
		n := len(r.conns)
		if r.plan != nil {
			for _, f := range r.plan(n) {
				c.ways[f.Dir].add(f)
			}
		}
		r.conns = append(r.conns, c)
		r.calls.Broadcast()
		r.mu.Unlock()
		for d := range c.ways {
			r.wg.Go(func() { c.relay(Direction(d)) })
		}
	}
}
