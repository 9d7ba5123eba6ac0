package metrics

import (
	"bytes"
	"log/slog"
	"net"
	"slices"
	"sync"

	"github.com/weft-mpi/weft/internal/strangers"
)

// crowd is a listener with a bounded number of connections. One more takes the place of
// the oldest, so that those who say nothing do not keep out who asks at once.
type crowd struct {
	net.Listener
	most int

	mu sync.Mutex
	in []*visitor // oldest first
}

// visitor is a connection of a crowd.
type visitor struct {
	net.Conn
	of *crowd
}

func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{conn, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.in) == c.most {
		c.in[0].Conn.Close()
		c.in = slices.Delete(c.in, 0, 1)
	}
	c.in = append(c.in, v)
	return v, nil
}

func (v *visitor) Close() error {
	c := v.of
	c.mu.Lock()
	c.in = slices.DeleteFunc(c.in, func(o *visitor) bool { return o == v })
	c.mu.Unlock()
	return v.Conn.Close()
}

// serverLog tells what the server says of its clients.
type serverLog struct{ *strangers.Log }

func (l serverLog) Write(b []byte) (int, error) {
	l.Tell(slog.LevelWarn, "metrics: the server has failed a client", "err", string(bytes.TrimSpace(b)))
	return len(b), nil
}
