package verbs

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

func TestCardsAndAddressesSurviveTheWire(t *testing.T) {
	c := card{qpn: 1, psn: 2, slot: slotSize, lid: 3, mtu: 4, ethernet: true, answers: 5,
		gid: [16]byte{6, 7}, window: 8, creditKey: 9, credit: 16, rails: 3, keysKey: 4, keys: 5}
	if got, err := decodeCard(c.encode()); err != nil || got != c {
		t.Errorf("card %+v came back as %+v, %v", c, got, err)
	}
	r := railCard{qpn: 1, psn: 2, lid: 3, mtu: 4, ethernet: true, answers: 5, port: 3, gid: [16]byte{8}, keysKey: 9}
	if got, err := decodeRailCard(r.encode(nil)); err != nil || got != r {
		t.Errorf("rail card %+v came back as %+v, %v", r, got, err)
	}
	cards := encodeCards(c, []railCard{r, r, r})
	if got, rails, err := decodeCards(cards); err != nil || got != c || !slices.Equal(rails, []railCard{r, r, r}) {
		t.Errorf("%+v with %+v, %v", got, rails, err)
	}
	for _, n := range []int{0, cardSize - 1, cardSize, len(cards) - 1} {
		if _, _, err := decodeCards(cards[:n]); err == nil {
			t.Errorf("%d bytes of %d are taken", n, len(cards))
		}
	}
	a := address{Version: protocolVersion, Rank: 3, Listen: "10.0.0.1:99", Token: [16]byte{1}}
	if got, err := decodeAddress(a.encode()); err != nil || got != a {
		t.Errorf("address %+v came back as %+v, %v", a, got, err)
	}
}

func FuzzDecoders(f *testing.F) {
	f.Add(card{}.encode())
	f.Add(address{Version: protocolVersion, Listen: ":1"}.encode())
	f.Add(make([]byte, headerSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeCard(b); err == nil && (c.window == 0 || c.slot != slotSize) {
			t.Errorf("card %+v was accepted", c)
		}
		if c, err := decodeRailCard(b); err == nil && (c.mtu == 0 || c.port >= maxPorts) {
			t.Errorf("rail card %+v was accepted", c)
		}
		decodeAddress(b)
		decodeCards(b)
		for rest := b; ; {
			_, _, _, hdr, body, n := parse(rest)
			if n == 0 {
				break
			}
			if headerSize+len(hdr)+len(body) != n || n > len(rest) {
				t.Fatalf("a message of %d of %d bytes has %d+%d", n, len(rest), len(hdr), len(body))
			}
			rest = rest[min(aligned(n), len(rest)):]
		}
	})
}

// Strangers at the handshake's socket get nowhere and harm nobody.
func TestStrangersAreTurnedAway(t *testing.T) {
	j := fakeJob(newFakeNet())
	ds := j.domains(t, 2)
	d := j.ranks[1]
	a, err := decodeAddress(d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(c net.Conn, job string, token greet.Token) {
		s := *ds[0].(*Domain).self()
		s.Job = job
		_, err := s.Dial(c, 1, token, func() ([]byte, error) { return nil, errors.New("it has proved itself") })
		if err == nil || strings.Contains(err.Error(), "has proved") {
			t.Errorf("a rank of job %s takes part: %v", job, err)
		}
	}
	for name, talk := range map[string]func(net.Conn){
		"nothing":            func(net.Conn) {},
		"HTTP":               func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: weft\r\n\r\n") },
		"a guessed token":    func(c net.Conn) { ask(c, d.cfg.Job, greet.NewToken()) },
		"another job's name": func(c net.Conn) { ask(c, "other", a.Token) },
	} {
		c, err := net.Dial("tcp", a.Listen)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(patience))
		talk(c)
		c.(*net.TCPConn).CloseWrite()
		if rest, _ := io.ReadAll(c); len(rest) > 0 {
			t.Errorf("%s: got %d bytes more", name, len(rest))
		}
		c.Close()
	}
	// A peer that offers nonsense is told so.
	c, err := net.Dial("tcp", a.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	_, err = ds[0].(*Domain).self().Dial(c, 1, a.Token, func() ([]byte, error) { return []byte("nonsense"), nil })
	if err == nil || !strings.Contains(err.Error(), "card of 8 bytes") {
		t.Errorf("nonsense is answered with %v", err)
	}
	// The real peer still comes through.
	e, err := ds[0].Connect(1, d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	var n counter
	eventually(t, "the real peer is heard", func() bool {
		if e.Send(1, 0, nil, nil) == nil {
			e = nothing{}
		}
		ds[0].Poll(nobody{}, 64)
		ds[1].Poll(&n, 64)
		return n.n > 0
	})
}

// nothing takes no messages.
type nothing struct{ fabric.Endpoint }

func (nothing) Send(uint8, uint64, []byte, []byte) error { return fabric.ErrAgain }

// Both dial at once, many times: there is one connection, and all messages
// arrive over it.
func TestSimultaneousConnectsMakeOneConnection(t *testing.T) {
	emulated(t)
	for range 50 {
		w := newFakeNet()
		j := fakeJob(w)
		ds := j.domains(t, 2)
		var eps [2]fabric.Endpoint
		for i := range 2 {
			eps[i], _ = ds[i].Connect(fabric.Peer(1-i), ds[1-i].Addr())
		}
		var c [2]counter
		sent := [2]bool{}
		eventually(t, "each receives the other's message", func() bool {
			for i := range 2 {
				sent[i] = sent[i] || eps[i].Send(1, 0, nil, nil) == nil
				ds[i].Poll(&c[i], 64)
			}
			return c[0].n+c[1].n >= 2
		})
		w.mu.Lock()
		if len(w.qps) > 3 { // one may still be on its way out
			t.Errorf("%d queue pairs", len(w.qps))
		}
		w.mu.Unlock()
		for _, d := range j.ranks {
			d.Close()
		}
	}
}
