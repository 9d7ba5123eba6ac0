package fabric

import "time"

// Peer is the rank of a process in the job, 0 to size-1.
type Peer uint32

// Op names an operation in flight: the engine's slab index and generation. A
// transport hands it back in Handler.Complete and never looks inside.
type Op uint64

// NoOp names an operation whose end nobody wants to be told: Complete is never
// called with it. Whoever starts it keeps the local memory reachable and as it
// is until a Flush behind it has completed. A failure of it is told by the next
// Flush on its endpoint. A Flush has a name of its own.
//
// It is no name that an engine gives: its index is beyond any slab.
const NoOp = ^Op(0)

// Urgent is set in the kind of a message that must not wait until the receiver
// next enters the engine (a rendezvous request, say). It wakes a receiver
// that is armed with WakeUrgent.
const Urgent uint8 = 0x80

// MaxHeader is the header length in bytes that every transport carries with a
// Send, whatever the length of the body.
const MaxHeader = 48

// Provider is a kind of transport: shared memory, TCP, verbs.
type Provider interface {
	// Name is the word a user selects the transport by: "shm", "mem".
	Name() string
	// Options lists the names of the Config.Options that Open takes.
	Options() []string
	// Available says why the transport can't be used on this machine, with the
	// remedy, or nil.
	Available() error
	// Open makes this rank reachable. It does not block on peers. To an option
	// with a value that it can't use it answers an *Error that names the option,
	// and the remedy.
	Open(Config) (Domain, error)
}

// Caps says what a domain offers and where its protocols break even. It does
// not change once the domain is in use. Sizes are in bytes; Check says which are
// possible.
type Caps struct {
	MaxEager int // largest body that one Send takes

	// Chunk is the piece to cut a body of more than MaxEager into, so that the
	// copies in and out overlap.
	Chunk int
	// RndvMin is the rendezvous threshold: a message of this length or more is
	// announced first and moved once its receive is there, by Get or Put where the
	// domain offers them. A shorter one is sent at once. RndvMinMapped is the
	// threshold of messages in memory that peers have mapped (Domain.Mapped).
	RndvMin, RndvMinMapped int

	Get, Put, Atomics bool // offered towards peers that permit it

	// Reach says that loads and stores reach memory of peers: Domain.Share and
	// Endpoint.Reach.
	Reach bool

	// LocalUnregistered says that the local memory of a Get or Put may be any:
	// Segment.Region is not looked at.
	LocalUnregistered bool

	// PutFirst says that a Put by its sender moves a large message sooner than
	// a Get by its receiver.
	PutFirst bool
}

// Access is the set of things a registered region is used for.
type Access uint8

const (
	LocalWrite Access = 1 << iota
	RemoteRead
	RemoteWrite
	RemoteAtomic
)

// Region is local memory made known to a domain. It is a plain value: copying
// it does not register anything again.
type Region struct {
	Remote
	Handle uint64 // the transport's own
}

// Remote names memory of a peer: what the peer's Region.Remote said, carried
// in a message. Its Addr is opaque but for adding offsets, with Len made
// smaller to match. Transports check it before they use it and answer
// ErrBadRemote from the call or from Complete.
type Remote struct {
	Addr uint64
	Len  uint64 // bytes
	Key  uint64
}

// Segment is local memory together with its registration.
type Segment struct {
	Bytes  []byte
	Region Region
}

// AtomicKind is the operation an Atomic carries out.
type AtomicKind uint8

const (
	FetchAdd    AtomicKind = iota + 1 // result = *dst; *dst += Operand
	CompareSwap                       // result = *dst; if result == Compare { *dst = Operand }
)

// Atomic is a remote atomic operation on 8 aligned bytes in host order.
type Atomic struct {
	Kind             AtomicKind
	Operand, Compare uint64
	Result           *uint64 // receives the old value before Complete is called
}

// Wake says what a sleeping rank wants to be woken for.
type Wake uint8

const (
	WakeUrgent Wake = iota + 1 // Urgent messages, one-sided notes, a filling queue, a peer's death
	WakeAll                    // any message
)

// Domain is one rank's side of an open transport.
type Domain interface {
	Caps() Caps
	// Addr is what peers need to Connect; published through boot.
	Addr() []byte
	// Connect returns the endpoint towards a peer, making it on first use. It
	// does not block: until the connection stands, the endpoint answers
	// ErrAgain. A connection that fails is reported by Handler.PeerDown.
	Connect(p Peer, addr []byte) (Endpoint, error)

	// Register makes b usable in one-sided operations until Deregister. The
	// caller keeps b alive meanwhile; the domain need not. It neither blocks
	// nor, in a transport that needs no pinning, allocates.
	Register(b []byte, a Access) (Region, error)
	Deregister(Region) error
	// Share returns n zeroed bytes that peers Reach, and that their Region names
	// in one-sided operations. They begin at a multiple of 64, have their cache
	// lines to themselves, and are the caller's until Close. It is meant for flags,
	// locks and counters: there are some hundred kilobytes in all. It is local.
	// ErrUnsupported answers where Caps.Reach is not set.
	Share(n int) (Segment, error)
	// Mapped reports whether peers on this machine reach b with plain loads and
	// stores. It is cheap and needs no registration.
	Mapped(b []byte) bool

	// Poll hands at most max events to h, and the ends of the Gets that h begins
	// meanwhile. It returns how much it did, work of its own included: 0 says
	// that there is nothing to do until something comes from outside, which the
	// doorbell would announce. It never blocks and never allocates.
	Poll(h Handler, max int) int

	// Arm asks peers to ring the doorbell for what w says; completions that do
	// not come from a Poll of this rank ring at either level. What came before
	// Arm rings nothing: the caller sleeps only after a Poll that answered 0.
	// Room after ErrAgain need not ring: who waits for it sleeps with a
	// timeout. Disarm ends it; both are cheap when nothing changes.
	Arm(w Wake) error
	Disarm()
	// Wait blocks until the doorbell rings, Wake is called, the timeout has
	// passed (0: none) or the domain is closed (ErrClosed). One caller at a
	// time. It may return early.
	Wait(timeout time.Duration) error
	// Sleep is Wait for a goroutine that is locked to its thread: it blocks the
	// thread in the kernel, so that the kernel's scheduler runs it as soon as the
	// doorbell rings, whatever the goroutines of the process do. ErrUnsupported
	// means that the doorbell is not the kernel's: Wait does.
	Sleep(timeout time.Duration) error
	// Wake makes a present or the next Wait or Sleep return.
	Wake()

	// Linger is a switch of the owner's, which makes a Poll that finds nothing
	// look several times before it answers 0: for a rank that only waits, over a
	// transport whose Poll is longer to begin than to repeat. It is the same in
	// each call, and nil where there is nothing to gain.
	Linger() *bool

	// End ends a single peer for a reason of the engine's: the peer has broken
	// the protocol, say, or a rank of this process has failed. The peer may be
	// alive. End is local, and the owner's call. Nothing of the peer's is
	// delivered any more, its endpoint answers err, which wraps ErrPeerDown, and
	// to the peer this rank is down: what it reads here from now on fails there.
	//
	// It reports whether something of the peer's may still land in memory here:
	// then PeerDown follows from a later Poll, when that is over. A peer in the
	// middle of a copy delays it until the copy, or the peer's process, has
	// ended; either rings the doorbell. Else the peer is down by now, and no
	// PeerDown follows. Operations with the peer complete, before that PeerDown,
	// or from the next Poll. For a peer that is down already it does nothing and
	// answers false.
	End(p Peer, err error) bool

	// Close ends this rank towards all peers and releases what the domain
	// holds. To peers that are connected this rank is down, behind what it has
	// sent to them. Operations that have not completed never will.
	//
	// When Close returns, all memory is the caller's: nobody writes to it any
	// more, neither a transfer of this rank's nor a Put, an Atomic or a device
	// of a peer's; and a peer's Get that succeeds has read before. Close is not
	// local. It waits for a peer that is in the middle of a copy into memory
	// here, however long that takes (a stopped process may hold one up), or
	// until the peer's process has ended, and says in the log whom it waits
	// for. A rank inside Close is in the middle of none: those that close at
	// once do not wait for each other.
	//
	// It is the owner's call, the last one. Wait and Wake may be called
	// meanwhile.
	Close() error
}

// Endpoint is the way to one peer. Messages of one endpoint arrive in the
// order they were accepted. Nothing else has an order: Put, Get, Atomic and
// Send take effect in any order among each other unless the end of one is
// waited for, and a note may come before or after messages that were sent
// before or after its Put.
//
// Every call is local and accepts the operation whole or not at all. ErrAgain
// means that nothing was accepted: the caller queues the operation behind the
// peer's earlier ones and tries again after a Poll. An operation that was
// accepted completes exactly once, by Handler.Complete from a Poll, unless it
// is a NoOp. One that is in flight when the peer ends completes before
// PeerDown, with ErrPeerDown if it has not been carried out.
type Endpoint interface {
	// Send takes a copy of hdr (at most MaxHeader) and body (at most
	// MaxEager): both may be reused on return. A Send has no completion.
	Send(kind uint8, imm uint64, hdr, body []byte) error
	// Put writes src to the peer's memory; a note other than 0 is given to the
	// peer's Handler.Notify once the bytes are there. src is the transport's
	// until Complete(op). Then src is the caller's again, and a message that
	// this endpoint sends afterwards arrives behind the bytes. Whoever hears of
	// the completion in another way may look too early: see Flush.
	//
	// ErrUnsupported is as for Get, and the note is not given.
	Put(src Segment, dst Remote, note uint32, op Op) error
	// Get reads len(dst.Bytes) bytes of the peer's memory; dst is the
	// transport's until Complete(op). Then the bytes are in it, and the peer's
	// memory may change.
	//
	// ErrUnsupported, from the call or from Complete, means that this transport
	// can't reach that memory of the peer's, and that the data has to be sent
	// instead. The peer is not down. By the time of such a Complete part of the
	// destination may have been written.
	Get(dst Segment, src Remote, op Op) error
	// Atomic acts on 8 bytes of the peer's memory. At Complete(op) a.Result is
	// the old value, and a message that this endpoint sends afterwards arrives
	// behind the new one; for others Flush is needed as for Put.
	Atomic(a Atomic, dst Remote, op Op) error
	// Flush completes once every Put and Atomic that was accepted before it on
	// this endpoint has taken effect in the peer's memory, so that whoever
	// learns of the completion by a later message, from any rank and over any
	// fabric, finds the bytes, and once every Get accepted before it has ended.
	// It needs the peer's calls only where Put does. It does not wait for
	// messages, and the operations that it covers may complete after it.
	//
	// Its error is the first failure of a NoOp accepted before it that no
	// earlier Flush has told of; the failures of other operations are in their
	// own completions. When the peer has ended before all has taken effect it is
	// ErrPeerDown.
	Flush(op Op) error

	// Reach returns the peer's memory that r names, for loads and stores of this
	// process: memory of Share, or memory that the peer has Mapped. It stays there,
	// at the same address, until this domain is closed, also when the peer maps
	// more, deregisters it or ends; what it is used for is for the two ranks to
	// agree on, and neither Deregister nor End nor Close of the peer waits for a
	// store that is under way. ErrAgain means that the connection does not stand
	// yet, ErrUnsupported that only copies reach that memory: Get and Put. It is
	// the owner's call, and local.
	Reach(r Remote) ([]byte, error)
	// Knock wakes the peer for what was stored before, by a store that is a release
	// at least, into memory of Reach or Share. The peer arms, and looks at the
	// memory by sync/atomic, before it sleeps: either that look finds the store or
	// Knock rings. urgent is as for messages: one that
	// is armed with WakeUrgent sleeps through other Knocks. Where nobody sleeps it
	// costs a load. It is for any goroutine, after an operation with the peer was
	// accepted and before the domain is closed, and does nothing where Caps.Reach is not set.
	Knock(urgent bool)
}

// Handler receives what Poll finds. Its methods may call Endpoint methods;
// they never block and never call Poll.
type Handler interface {
	// Deliver hands over one message. hdr and body are borrowed until return.
	Deliver(from Peer, kind uint8, imm uint64, hdr, body []byte)
	// Notify reports the note of a Put that has arrived whole.
	Notify(from Peer, note uint32)
	// Complete ends an accepted operation, exactly once.
	Complete(op Op, err error)
	// PeerDown ends a peer, exactly once, after every Complete of its
	// operations. Its endpoint answers ErrPeerDown from then on.
	PeerDown(p Peer, err error)
}
