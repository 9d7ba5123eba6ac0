package tcpproxy

import (
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// Direction is one of the two of a connection.
type Direction int

const (
	Up   Direction = iota // from whoever dialled
	Down                  // to whoever dialled
)

// Action is what befalls a connection.
type Action uint8

const (
	Delay   Action = iota + 1 // the bytes of this direction wait, once, for Fault.For
	Swallow                   // what comes in this direction is lost, and nobody is told
	Hold                      // nothing more is read in this direction, until Go
	Go                        // what Hold or Swallow has begun is over
	Reset                     // both ends get a reset
	Half                      // this direction ends, in order; the other goes on
)

// Fault is an action at a byte.
type Fault struct {
	Dir Direction
	At  int64 // so many bytes of Dir have been passed on before
	Do  Action
	For time.Duration // of a Delay
}

// Conn is a connection through the relay.
type Conn struct {
	ends [2]*net.TCPConn // where Up comes from, and where it goes
	ways [2]way

	once sync.Once
	done chan struct{} // closed with the connection
}

// way is one direction.
type way struct {
	mu     sync.Mutex // guards what follows
	moved  sync.Cond
	faults []Fault // by place, nearest first
	now    Action  // 0, Swallow, Hold; Reset and Half once it is over
	passed int64
	said   []byte // all that was passed on
}

func newConn(near, far *net.TCPConn) *Conn {
	c := &Conn{ends: [2]*net.TCPConn{near, far}, done: make(chan struct{})}
	for i := range c.ways {
		c.ways[i].moved.L = &c.ways[i].mu
	}
	return c
}

// add takes a fault that is yet to come.
func (w *way) add(f Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := 0
	for i < len(w.faults) && w.faults[i].At <= f.At {
		i++
	}
	w.faults = slices.Insert(w.faults, i, f)
}

// Do does something to the connection now. d is of no meaning for a Reset. A Delay
// has to be planned.
func (c *Conn) Do(what Action, d Direction) {
	switch what {
	case Reset:
		c.reset()
	case Half:
		c.half(d)
	case Swallow, Hold, Go:
		w := &c.ways[d]
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.now == Half {
			return
		}
		if w.now = what; what == Go {
			w.now = 0
		}
		w.moved.Broadcast()
	}
}

// Passed is how many bytes of a direction have been passed on.
func (c *Conn) Passed(d Direction) int64 {
	w := &c.ways[d]
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.passed
}

// AwaitPassed waits until n bytes of a direction have been passed on. It returns
// false if the connection ends before.
func (c *Conn) AwaitPassed(d Direction, n int64) bool {
	w := &c.ways[d]
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.passed < n && !c.over() {
		w.moved.Wait()
	}
	return w.passed >= n
}

// Said is a copy of what was passed on in a direction.
func (c *Conn) Said(d Direction) []byte {
	w := &c.ways[d]
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// Replay says once more, to an address, what a connection's dialler has said, and
// returns what it is told until the other side hangs up or limit has passed.
func (c *Conn) Replay(to string, limit time.Duration) ([]byte, error) {
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(limit))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		conn.Write(c.Said(Up)) // fails where the other side hangs up before the end
	}()
	answer, err := io.ReadAll(conn)
	conn.Close()
	<-sent
	return answer, err
}

// next says what to do with bytes of a direction: pass on at most n of them, 0 for
// no limit, or drop them. It waits out Hold and Delay. ok is false at the end.
func (c *Conn) next(d Direction) (n int64, drop, ok bool) {
	w := &c.ways[d]
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if c.over() || w.now == Half {
			return 0, false, false
		}
		if len(w.faults) > 0 && w.faults[0].At <= w.passed {
			f := w.faults[0]
			w.faults = w.faults[1:]
			switch f.Do {
			case Swallow, Hold:
				w.now = f.Do
			default:
				w.mu.Unlock()
				if f.Do == Delay {
					c.pause(f.For)
				} else {
					c.Do(f.Do, d)
				}
				w.mu.Lock()
			}
			continue
		}
		if w.now == Hold {
			w.moved.Wait()
			continue
		}
		if w.now == Swallow {
			return 0, true, true
		}
		if len(w.faults) > 0 {
			n = w.faults[0].At - w.passed
		}
		return n, false, true
	}
}

func (c *Conn) pause(t time.Duration) {
	select {
	case <-c.done:
	case <-time.After(t):
	}
}

// relay passes one direction on. A byte that was read before its fault is kept until
// the fault is over.
func (c *Conn) relay(d Direction) {
	from, to := c.ends[d], c.ends[1-d]
	w := &c.ways[d]
	buf := make([]byte, 64<<10)
	var rest []byte
	for {
		n, drop, ok := c.next(d)
		if !ok {
			return
		}
		if len(rest) == 0 {
			k, err := from.Read(buf)
			if rest = buf[:k]; err != nil && k == 0 {
				c.ended(d, err)
				return
			}
			continue // the fault may have come meanwhile
		}
		if drop {
			rest = nil
			continue
		}
		b := rest
		if n > 0 {
			b = b[:min(int64(len(b)), n)]
		}
		k, err := to.Write(b)
		rest = rest[k:]
		w.mu.Lock()
		w.passed += int64(k)
		w.said = append(w.said, b[:k]...)
		w.moved.Broadcast()
		w.mu.Unlock()
		if err != nil {
			c.reset()
			return
		}
	}
}

// ended passes the end of a direction on: in order, or as a reset. A direction that
// is swallowed ends in silence.
func (c *Conn) ended(d Direction, err error) {
	w := &c.ways[d]
	w.mu.Lock()
	now := w.now
	for now == Hold && !c.over() {
		w.moved.Wait()
		now = w.now
	}
	w.mu.Unlock()
	switch {
	case now == Swallow, now == Half:
	case err == io.EOF:
		c.half(d)
	default:
		c.reset()
	}
}

// half ends a direction in order.
func (c *Conn) half(d Direction) {
	w := &c.ways[d]
	w.mu.Lock()
	w.now = Half
	w.moved.Broadcast()
	w.mu.Unlock()
	c.ends[1-d].CloseWrite()
}

// reset ends the connection for both ends, with no word in order.
func (c *Conn) reset() {
	for _, e := range c.ends {
		e.SetLinger(0)
	}
	c.close()
}

func (c *Conn) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *Conn) close() {
	c.once.Do(func() {
		close(c.done)
		for _, e := range c.ends {
			e.Close()
		}
	})
	for i := range c.ways { // whoever waits looks at done
		w := &c.ways[i]
		w.mu.Lock()
		w.moved.Broadcast()
		w.mu.Unlock()
	}
}
