package killpoint

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// Event is what a rank and its transport do with a peer.
type Event uint8

const (
	Sending    Event = iota + 1 // Send is about to be called
	Sent                        // Send has accepted a message
	Delivering                  // a message is about to be delivered
	Delivered                   // the engine has returned from Deliver
	Getting                     // a Get was accepted
	Got                         // the completion of a Get is about to be reported
	Putting                     // a Put was accepted
	Put                         // the completion of a Put is about to be reported
	Closing                     // the domain is about to be closed; it has no peer
)

var eventNames = [...]string{Sending: "sending", Sent: "sent", Delivering: "delivering", Delivered: "delivered",
	Getting: "getting", Got: "got", Putting: "putting", Put: "put", Closing: "closing"}

// Point is a moment of a rank's traffic.
type Point struct {
	Event Event
	Kind  uint8 // of messages: package wire has them; 0 for any
	Peer  fabric.Peer
	Nth   int // of such events since Set, from 1 on
}

func (p Point) String() string {
	name := fmt.Sprintf("event %d", p.Event)
	if int(p.Event) < len(eventNames) && eventNames[p.Event] != "" {
		name = eventNames[p.Event]
	}
	return fmt.Sprintf("%s, kind %d, peer %d, number %d", name, p.Kind, p.Peer, p.Nth)
}

// trap is a point that something is to happen at.
type trap struct {
	Point
	seen atomic.Int64
	do   func()
}

// armed is the process's trap. Set stores it, and the loads in happen see it:
// those of the goroutine that owns a loop, whichever that is.
var armed atomic.Pointer[trap]

// Set has do called once when this process comes to the point, by the goroutine
// that owns the rank's loop: do must not block and not call the engine. It
// replaces an earlier trap.
func Set(at Point, do func()) { armed.Store(&trap{Point: at, do: do}) }

// Reset removes the trap.
func Reset() { armed.Store(nil) }

func happen(e Event, kind uint8, peer fabric.Peer) {
	t := armed.Load()
	if t == nil || t.Event != e || t.Kind != 0 && t.Kind != kind || e != Closing && t.Peer != peer {
		return
	}
	if t.seen.Add(1) == int64(t.Nth) {
		t.do()
	}
}

// Ways are the ways of a large message, where the engine has several.
type Ways uint8

const (
	AsEver    Ways = iota
	Fragments      // no Get: the receiver asks for fragments (CTS)
	Writes         // the sender writes (Grant, Written), where the transport has Put
)

// opened is about the domains that this process opens. Choose is called before
// the first Open, which reads ways; Open adds to addrs.
var opened struct {
	sync.Mutex
	ways  Ways
	addrs []string
}

// Choose sets the ways of the domains that are opened from now on.
func Choose(w Ways) {
	opened.Lock()
	defer opened.Unlock()
	opened.ways = w
}

// Addrs returns the addresses of all domains that this process has opened so
// far, each behind the name of its transport and a space. The list is the
// caller's.
func Addrs() []string {
	opened.Lock()
	defer opened.Unlock()
	return slices.Clone(opened.addrs)
}
