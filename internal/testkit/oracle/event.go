package oracle

import "fmt"

// Wildcards of a receive.
const (
	AnySource = -1
	AnyTag    = -2
)

// Fill is what every byte of a receive buffer holds before the receive starts.
const Fill = 0xEE

// Kind is what an event tells.
type Kind uint8

const (
	Send      Kind = iota + 1 // Rank starts a send: Req, Peer, Context, Tag, Mode, Data
	Post                      // Rank starts a receive: Req, Peer, Context, Tag, Room
	Arrive                    // the first packet of a message reaches Rank: Peer, Context, Tag, Whole
	Whole                     // the last packet of the message that Arrive of Peer began has come
	SendDone                  // Req has ended: Class
	RecvDone                  // Req has ended: Class, and Peer, Tag, Length of the status, Data the whole buffer
	Cancel                    // Rank asks to cancel Req
	Release                   // Rank gives Req up: it goes on, and nobody hears of its end
	GiveBack                  // Peer asks Rank for the message of its send Req, which it wants to cancel
	Probe                     // Rank has probed: Peer, Context, Tag; Found and then FoundPeer, FoundTag, Length; or Class
	Claim                     // as Probe, and what was found is now the message Req (a matched probe)
	Await                     // Rank starts a probe that waits: Req, Peer, Context, Tag
	ProbeDone                 // Req has ended: Class, FoundPeer, FoundTag, Length
	Receive                   // Rank starts the receive Req of the claimed message Peer: Room
	Fault                     // a transfer of Rank's from Peer failed by itself
	Death                     // Rank is dead
	Down                      // Rank learns that Peer is dead
	Left                      // Length of What is left at Rank after the end
)

var kinds = [...]string{Send: "send", Post: "post", Arrive: "arrive", Whole: "whole", SendDone: "send-done", RecvDone: "recv-done",
	Cancel: "cancel", Release: "release", GiveBack: "give-back", Probe: "probe", Claim: "claim", Await: "await", ProbeDone: "probe-done", Receive: "receive", Fault: "fault", Death: "death", Down: "down", Left: "left"}

func (k Kind) String() string { return kinds[k] }

// Class is how a request ended.
type Class uint8

const (
	OK        Class = iota
	Truncated       // the message was longer than the buffer
	Cancelled
	PeerDown // the peer is dead
	Failed   // the transfer failed, and the peers live
	NotReady // a ready send came before its receive
	NoBuffer // a buffered send found no room
	Other    // any other error
	Untold   // it has ended, and how is not known
)

var classes = [...]string{OK: "ok", Truncated: "truncated", Cancelled: "cancelled", PeerDown: "peer down", Failed: "failed",
	NotReady: "not ready", NoBuffer: "no buffer", Other: "another error", Untold: "untold"}

func (c Class) String() string { return classes[c] }

// Mode is a send mode.
type Mode uint8

const (
	Standard Mode = iota
	Synchronous
	Ready
	Buffered
)

var modes = [...]string{"standard", "synchronous", "ready", "buffered"}

func (m Mode) String() string { return modes[m] }

// Event is one thing that happened. Data is kept until End.
type Event struct {
	Kind       Kind
	Rank, Peer int
	Context    uint32
	Tag        int32
	Req        int // names a request, or a claimed message, once in a run
	Mode       Mode
	With       int // Send: 1 more than the name of the receive that it ends with, or 0
	Class      Class
	Room       int // bytes
	Length     int // bytes
	Data       []byte
	Whole      bool
	Found      bool
	FoundPeer  int
	FoundTag   int32
	What       string
}

func (e Event) String() string {
	switch e.Kind {
	case Send:
		return fmt.Sprintf("rank %d sends #%d to %d, context %d, tag %d, %d bytes, %v", e.Rank, e.Req, e.Peer, e.Context, e.Tag, len(e.Data), e.Mode)
	case Post:
		return fmt.Sprintf("rank %d posts #%d from %d, context %d, tag %d, room %d", e.Rank, e.Req, e.Peer, e.Context, e.Tag, e.Room)
	case Arrive:
		return fmt.Sprintf("at rank %d arrives from %d, context %d, tag %d, whole %t", e.Rank, e.Peer, e.Context, e.Tag, e.Whole)
	case RecvDone:
		return fmt.Sprintf("rank %d has received #%d: %v, from %d, tag %d, length %d", e.Rank, e.Req, e.Class, e.Peer, e.Tag, e.Length)
	case SendDone:
		return fmt.Sprintf("rank %d has sent #%d: %v", e.Rank, e.Req, e.Class)
	case Cancel:
		return fmt.Sprintf("rank %d cancels #%d", e.Rank, e.Req)
	case Probe, Claim:
		return fmt.Sprintf("rank %d %vs from %d, context %d, tag %d: %t, from %d, tag %d, length %d, #%d",
			e.Rank, e.Kind, e.Peer, e.Context, e.Tag, e.Found, e.FoundPeer, e.FoundTag, e.Length, e.Req)
	case Await:
		return fmt.Sprintf("rank %d probes #%d from %d, context %d, tag %d", e.Rank, e.Req, e.Peer, e.Context, e.Tag)
	case ProbeDone:
		return fmt.Sprintf("rank %d has probed #%d: %v, from %d, tag %d, length %d", e.Rank, e.Req, e.Class, e.FoundPeer, e.FoundTag, e.Length)
	case Release:
		return fmt.Sprintf("rank %d gives #%d up", e.Rank, e.Req)
	case GiveBack:
		return fmt.Sprintf("rank %d is asked by %d to give #%d back", e.Rank, e.Peer, e.Req)
	case Receive:
		return fmt.Sprintf("rank %d receives message #%d as #%d, room %d", e.Rank, e.Peer, e.Req, e.Room)
	case Left:
		return fmt.Sprintf("at rank %d %d %s left", e.Rank, e.Length, e.What)
	}
	return fmt.Sprintf("%v at rank %d of %d", e.Kind, e.Rank, e.Peer)
}
