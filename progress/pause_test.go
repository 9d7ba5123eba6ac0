package progress

import (
	"log/slog"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// full is a domain of one rank whose endpoint has no room, until it opens. It
// tells how long the thread's Waits are to last at most.
type full struct {
	fabric.Domain
	waits chan time.Duration
	open  chan struct{} // closed once there is room
}

func (d *full) Wait(timeout time.Duration) error {
	select {
	case d.waits <- timeout:
	default:
	}
	return d.Domain.Wait(timeout)
}

func (d *full) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	return fullEndpoint{ep, d}, err
}

type fullEndpoint struct {
	fabric.Endpoint
	d *full
}

func (e fullEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	select {
	case <-e.d.open:
		return e.Endpoint.Send(kind, imm, hdr, body)
	default:
		return fabric.ErrAgain
	}
}

// While a backlog finds no room the thread looks at it less and less often, and
// what waits goes on once there is room.
func TestTheThreadPausesForRoom(t *testing.T) {
	d, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	z := &full{Domain: d, waits: make(chan time.Duration), open: make(chan struct{})}
	s := &toy{waiting: map[*Request]bool{}}
	s.l = New(Config{Domain: z, Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler)})
	s.l.Handle(s, question, answer)
	s.l.Go()
	t.Cleanup(func() { s.l.Close() })
	done := make(chan error)
	go func() {
		_, err := s.l.Do(s, s.shared(letter, 0, 1, nil))
		done <- err
	}()
	for n := 0; ; n++ {
		if n == 2000 { // at least ten times what it takes
			t.Fatal("the thread's pauses do not get longer")
		}
		wait := <-z.waits
		if wait > mostPause && wait > s.l.tick {
			t.Fatalf("a pause of %v: want at most %v", wait, mostPause)
		}
		if wait >= 10*s.l.tick {
			break
		}
	}
	close(z.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
