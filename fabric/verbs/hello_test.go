package verbs

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

func TestCardsAndGreetingsSurviveTheWire(t *testing.T) {
	c := card{qpn: 1, psn: 2, slot: slotSize, lid: 3, mtu: 4, ethernet: true, answers: 5,
		gid: [16]byte{6, 7}, window: 8, creditKey: 9, credit: 16, rails: 3, keysKey: 4, keys: 5}
	if got, err := decodeCard(c.encode()); err != nil || got != c {
		t.Errorf("card %+v came back as %+v, %v", c, got, err)
	}
	r := railCard{qpn: 1, psn: 2, lid: 3, mtu: 4, ethernet: true, answers: 5, port: 3, gid: [16]byte{8}, keysKey: 9}
	if got, err := decodeRailCard(r.encode(nil)); err != nil || got != r {
		t.Errorf("rail card %+v came back as %+v, %v", r, got, err)
	}
	g := greeting{rank: 1, size: 2, nonce: [16]byte{3}}
	if got, err := decodeGreeting(g.encode()); err != nil || got != g {
		t.Errorf("greeting %+v came back as %+v, %v", g, got, err)
	}
	newer := g.encode()
	newer[8] = protocolVersion + 1
	if _, err := decodeGreeting(newer); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d meets version %d", protocolVersion+1, protocolVersion)) {
		t.Errorf("another version: %v", err)
	}
	a := address{Version: protocolVersion, Rank: 3, Listen: "10.0.0.1:99", Token: [16]byte{1}}
	if got, err := decodeAddress(a.encode()); err != nil || got != a {
		t.Errorf("address %+v came back as %+v, %v", a, got, err)
	}
}

func FuzzDecoders(f *testing.F) {
	f.Add(card{}.encode())
	f.Add(greeting{}.encode())
	f.Add(address{Version: protocolVersion, Listen: ":1"}.encode())
	f.Add(make([]byte, headerSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := decodeCard(b); err == nil && (c.window == 0 || c.slot != slotSize) {
			t.Errorf("card %+v was accepted", c)
		}
		if c, err := decodeRailCard(b); err == nil && (c.mtu == 0 || c.port >= maxPorts) {
			t.Errorf("rail card %+v was accepted", c)
		}
		decodeKeys(append(b, make([]byte, keyEntrySize)...), 7)
		decodeGreeting(b)
		decodeAddress(b)
		readRefusal(bytes.NewReader(b))
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

func TestKeysOfOthersAreRefused(t *testing.T) {
	mine, other := tagSeed(newToken()), tagSeed(newToken())
	k := mine.key(0xdeadbeef, fabric.RemoteRead|fabric.LocalWrite)
	if !mine.made(k) || !permits(k, fabric.RemoteRead) {
		t.Error("a good key is refused")
	}
	if permits(k, fabric.RemoteWrite) || other.made(k) {
		t.Error("a key is accepted for what it does not permit, or from another")
	}
	for bit := range 64 {
		if mine.made(k ^ 1<<bit) {
			t.Errorf("accepted with bit %d changed", bit)
		}
	}
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
	me := greeting{rank: 0, size: 2}.encode()
	for name, talk := range map[string]func(net.Conn){
		"nothing":            func(c net.Conn) {},
		"HTTP":               func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: weft\r\n\r\n") },
		"a greeting only":    func(c net.Conn) { c.Write(me) },
		"a wrong proof":      func(c net.Conn) { c.Write(me); c.Write(make([]byte, proofSize+cardSize)) },
		"a guessed token":    func(c net.Conn) { forge(c, me, newToken(), d.cfg.Job) },
		"another job's name": func(c net.Conn) { forge(c, me, a.Token, "other") },
	} {
		c, err := net.Dial("tcp", a.Listen)
		if err != nil {
			t.Fatal(err)
		}
		talk(c)
		c.(*net.TCPConn).CloseWrite()
		c.SetReadDeadline(time.Now().Add(patience))
		rest, _ := io.ReadAll(c)
		if len(rest) > greetingSize+proofSize {
			t.Errorf("%s: got an answer of %d bytes", name, len(rest))
		}
		c.Close()
	}
	// The real peer still comes through.
	e, err := ds[0].Connect(1, d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	var c counter
	eventually(t, "the real peer is heard", func() bool {
		if e.Send(1, 0, nil, nil) == nil {
			e = nothing{}
		}
		ds[0].Poll(nobody{}, 64)
		ds[1].Poll(&c, 64)
		return c.n > 0
	})
}

// nothing takes no messages.
type nothing struct{ fabric.Endpoint }

func (nothing) Send(uint8, uint64, []byte, []byte) error { return fabric.ErrAgain }

func forge(c net.Conn, me []byte, token [16]byte, job string) {
	c.Write(me)
	b, err := readN(c, greetingSize+proofSize)
	if err == nil {
		c.Write(append(proof(token, job, "dialer", me, b[:greetingSize]), card{slot: slotSize, window: 1, mtu: 1}.encode()...))
	}
}

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
