package metrics

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/progress/counters"
)

// pipes is a listener to whom one end of each pipe is given.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// Connections that say nothing take a bounded part of the descriptors, and keep nobody out.
func TestIdleClientsMakeRoom(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	const most = 16
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 16 * most, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		at, begin := make(pipes), time.Now()
		serveAt(ctx, at, Collector(func() (s counters.Snapshot) { return s }, nil))
		var clients []net.Conn
		for range most + 3 {
			mine, its := net.Pipe()
			clients = append(clients, mine)
			at <- its
		}
		synctest.Wait()
		for i, c := range clients[:len(clients)-1] {
			c.SetReadDeadline(begin) // what has ended says so all the same
			if _, err := c.Read(make([]byte, 1)); (err == io.EOF) != (i < 3) {
				t.Errorf("client %d of %d: %v", i, len(clients), err)
			}
		}
		last := clients[len(clients)-1]
		io.WriteString(last, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		if r, err := http.ReadResponse(bufio.NewReader(last), nil); err != nil || r.StatusCode != 200 {
			t.Errorf("who asks gets %v, %v", r, err)
		}
		for _, c := range clients {
			c.Close()
		}
		cancel()
		time.Sleep(wholeTime) // of the bubble, for the server's end
	})
}
