package fabric

import "time"

// Peer is the rank of a process in the job, 0 to size-1.
type Peer uint32

// Op names an operation in flight: the engine's slab index and generation. A
// transport returns it in Handler.Complete and does not interpret it.
type Op uint64

// NoOp names an operation whose completion is not reported: Complete is never
// called with it. Its caller keeps the local memory reachable and unchanged
// until a later Flush has completed. The next Flush on its endpoint reports its
// failure. A Flush itself needs an Op of its own.
//
// No engine gives this name to anything: its index is beyond any slab.
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
	// Available returns nil, or why the transport can't be used on this machine,
	// with the remedy.
	Available() error
	// Open makes this rank reachable. It does not wait for peers. An option with
	// a value that can't be used is an *Error that names the option and the
	// remedy. ErrUnsupported means that this rank can't use the transport in this
	// job, though it is available.
	Open(Config) (Domain, error)
}

// Caps describes what a domain offers and where its protocols break even. It is
// constant once the domain is in use. Sizes are in bytes; Check has the rules.
type Caps struct {
	MaxEager int // largest body that one Send takes

	// Chunk is the size of the pieces of a body above MaxEager. Pieces let the
	// copies in and out overlap.
	Chunk int
	// RndvMin is the rendezvous threshold: a message of this length or more is
	// announced first and moved once its receive is posted, by Get or Put where
	// the domain offers them. A shorter one is sent at once. RndvMinMapped is
	// the threshold of messages in memory that peers have mapped
	// (Domain.Mapped).
	RndvMin, RndvMinMapped int

	Get, Put, Atomics bool // offered towards peers that permit it

	// Reach says that loads and stores reach memory of peers: Domain.Share and
	// Endpoint.Reach.
	Reach bool

	// LocalUnregistered permits any local memory in a Get or Put: the transport
	// ignores Segment.Region.
	LocalUnregistered bool

	// Pack says that Endpoint.SendPacked saves a copy, Write that any goroutine may call
	// Endpoint.Write.
	Pack, Write bool

	// PutFirst prefers a Put by the sender of a large message over a Get by its
	// receiver, as the faster.
	PutFirst bool
}

// Access is the set of uses of a registered region.
type Access uint8

const (
	LocalWrite Access = 1 << iota
	RemoteRead
	RemoteWrite
	RemoteAtomic
)

// Region is local memory registered with a domain. It is a plain value: a copy
// is the same registration.
type Region struct {
	Remote
	Handle uint64 // the transport's own
}

// Remote names memory of a peer: the peer's Region.Remote, carried in a message.
// Addr is opaque, except that an offset may be added to it, with Len reduced to
// match. Transports check a Remote before use; a bad one fails with
// ErrBadRemote, from the call or from Complete.
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

// Wake selects the events that wake a sleeping rank.
type Wake uint8

const (
	WakeUrgent Wake = iota + 1 // Urgent messages, a filling queue, a peer's death
	WakeAll                    // any message
)

// Domain is one rank's side of an open transport.
type Domain interface {
	Caps() Caps
	// Addr is what peers need for Connect. Package transports publishes it through
	// package launch.
	Addr() []byte
	// Connect returns the endpoint towards a peer and creates it at the first
	// call. It does not block: until the connection stands, the endpoint returns
	// ErrAgain. Handler.PeerDown reports a connection that fails.
	Connect(p Peer, addr []byte) (Endpoint, error)

	// Register makes b usable in one-sided operations until Deregister. The
	// caller keeps b alive meanwhile; the domain need not. It neither blocks
	// nor, in a transport that needs no pinning, allocates.
	Register(b []byte, a Access) (Region, error)
	Deregister(Region) error
	// Share returns n zeroed bytes that peers Reach, and that their Region names
	// in one-sided operations. They begin at a multiple of 64, share no cache
	// line with anything else, and are the caller's until Close. They are meant
	// for flags, locks and counters: a domain has some hundred kilobytes in all.
	// Local. It fails with ErrUnsupported where Caps.Reach is not set.
	Share(n int) (Segment, error)
	// Mapped reports whether peers on this machine reach b with plain loads and
	// stores. It is cheap and needs no registration.
	Mapped(b []byte) bool

	// Poll hands at most max events to h, and also the completions of the Gets
	// that h starts meanwhile. It returns how much it did, its own work
	// included. 0 means that there is nothing to do until an event from outside,
	// which the doorbell would announce. It never blocks and never allocates.
	Poll(h Handler, max int) int

	// Arm asks peers to ring the doorbell for the events of w. Completions that
	// need no Poll of this rank ring at either level. Events before Arm do not
	// ring: the caller sleeps only after a Poll that returned 0. Room after
	// ErrAgain need not ring: a caller that waits for room sleeps with a
	// timeout. Disarm undoes Arm; both are cheap when nothing changes.
	Arm(w Wake) error
	Disarm()
	// Wait blocks until the doorbell rings, Wake is called, the timeout has
	// passed (0: none) or the domain is closed (ErrClosed). One caller at a
	// time. It may return early.
	Wait(timeout time.Duration) error
	// Sleep is Wait for a goroutine that is locked to its thread. It blocks the
	// thread in the kernel, so the kernel's scheduler runs it as soon as the
	// doorbell rings, whatever the process's goroutines do. ErrUnsupported means
	// that the doorbell is not in the kernel: use Wait.
	Sleep(timeout time.Duration) error
	// Wake makes a Wait or Sleep return, the present one or the next.
	Wake()

	// Linger is a switch for the owner. While it is set, a Poll that finds
	// nothing checks several times before it returns 0: for a rank that only
	// waits, over a transport whose Poll costs more to begin than to repeat.
	// Every call returns the same pointer, nil where there is nothing to gain.
	Linger() *bool

	// End ends one peer on the engine's behalf: the peer has broken the
	// protocol, say, or a rank of this process has failed. The peer may be
	// alive. Local; for the owner. Nothing more of the peer is delivered. Its
	// endpoint fails with err, which wraps ErrPeerDown. To the peer this rank is
	// down: its reads of memory here fail from now on.
	//
	// End returns true if the peer may still write to memory here. Then a later
	// Poll calls PeerDown when that is over. A peer in the middle of a copy
	// delays it until the copy, or the peer's process, has ended; either rings
	// the doorbell. If End returns false the peer is down now, and no PeerDown
	// follows. Operations with the peer complete before that PeerDown, or from
	// the next Poll. For a peer that is down already, End does nothing and
	// returns false.
	End(p Peer, err error) bool

	// Lost is news from outside, of the launcher say, that the peer's process has ended;
	// err wraps ErrPeerDown. It is for a transport that tries for a while to connect with
	// a peer that is gone: elsewhere it does nothing. A peer that is not connected, and is
	// not about to be, goes down with err at a later Poll, and is not dialled any more. A
	// connection that stands ends by itself, behind what the peer had sent, or when it has
	// been silent for a second. Local; for the owner.
	Lost(p Peer, err error)

	// Stats adds the domain's counts to s and sets the transport's name. For the owner.
	Stats(s *Stats)

	// Close disconnects this rank from all peers and releases the domain's
	// resources. To connected peers this rank goes down after everything it has
	// sent to them. Operations that have not completed never will.
	//
	// When Close returns, all memory is the caller's. No transfer of this rank,
	// no Put, Atomic or Write of a peer and no device writes to it any more, and
	// a peer's Get that succeeds has read before. Close is not local. It waits for
	// a peer in the middle of a copy into memory here, however long that takes
	// (a stopped process may hold one up), or until that peer's process has
	// ended, and it logs which peer it waits for. A rank inside Close is in the
	// middle of no copy, so ranks that close at the same time do not wait for
	// each other.
	//
	// It is for the owner, as the last call. Wait and Wake may be called
	// meanwhile.
	Close() error
}

// Endpoint is the way to one peer. Messages of one endpoint arrive in the order
// they were accepted. Nothing else has an order: Put, Get, Atomic and Send take
// effect in any order unless the caller waits for a completion in between.
//
// Every call is local and accepts the operation whole or not at all. ErrAgain
// means that nothing was accepted: the caller queues the operation behind the
// peer's earlier ones and tries again after a Poll. An accepted operation
// completes exactly once, by Handler.Complete from a Poll, unless it is a NoOp.
// If the peer goes down first, it completes before PeerDown, with ErrPeerDown if
// it was not carried out.
type Endpoint interface {
	// Send takes a copy of hdr (at most MaxHeader) and body (at most
	// MaxEager): both may be reused on return. A Send has no completion.
	Send(kind uint8, imm uint64, hdr, body []byte) error
	// SendPacked is Send with n bytes of body as the message's body, from the one at on:
	// more than none, at most MaxEager. They are packed into the memory that is sent from.
	// body has packed nothing if SendPacked returns an error, and is not used after its
	// return. It fails with ErrUnsupported where Caps.Pack is not set.
	SendPacked(kind uint8, imm uint64, hdr []byte, body Packed, at uint64, n int) error
	// Put writes src to the peer's memory. src belongs to the transport until
	// Complete(op), then to the caller again. A message that this endpoint sends
	// after that arrives after the bytes. A rank that learns of the completion in
	// another way may read too early: see Flush. ErrUnsupported is as for Get.
	Put(src Segment, dst Remote, op Op) error
	// Get reads len(dst.Bytes) bytes of the peer's memory. dst belongs to the
	// transport until Complete(op). Then it has the bytes, and the peer's memory
	// may change.
	//
	// ErrUnsupported, from the call or from Complete, means that this transport
	// can't reach that memory of the peer, and that the data must be sent
	// instead. The peer is not down. By the time of such a Complete, part of dst
	// may have been written.
	Get(dst Segment, src Remote, op Op) error
	// Atomic acts on 8 bytes of the peer's memory. At Complete(op) a.Result has
	// the old value. A message that this endpoint sends after that arrives after
	// the new value is in place; other ranks need Flush, as for Put.
	Atomic(a Atomic, dst Remote, op Op) error
	// Flush completes once every Put and Atomic accepted before it on this
	// endpoint has taken effect in the peer's memory, and every Get accepted
	// before it has completed. Any rank that learns of this by a later message,
	// from any rank and over any fabric, finds the bytes. It needs the peer's
	// calls only where Put does. It does not wait for messages, and the
	// operations that it covers may complete after it.
	//
	// Its error is the first failure of a NoOp accepted before it that no
	// earlier Flush has reported. Other operations report failures in their own
	// completions. If the peer goes down first, the error is ErrPeerDown.
	Flush(op Op) error

	// Reach returns the peer's memory that r names, for loads and stores of this
	// process: memory of Share, or memory that the peer has Mapped. It stays at
	// the same address until this domain is closed, even if the peer maps more
	// memory, deregisters this one or goes down. The two ranks must agree on its
	// use: neither Deregister nor End nor Close of the peer waits for a store
	// under way. ErrAgain means that the connection does not stand yet,
	// ErrUnsupported that only Get and Put reach that memory. Local; for the
	// owner.
	Reach(r Remote) ([]byte, error)
	// Knock wakes the peer for a store made before, at least a release, into
	// memory of Reach or Share. Before it sleeps, the peer arms its doorbell and
	// then loads the memory by sync/atomic: either that load sees the store, or
	// Knock rings. urgent is as for messages: a peer armed with WakeUrgent
	// sleeps through other Knocks. If the peer does not sleep, Knock costs a
	// load. It is for any goroutine, after an operation with the peer was
	// accepted and before the domain is closed. It does nothing where Caps.Reach
	// is not set.
	Knock(urgent bool)

	// Write copies src to the first len(src) bytes of dst, memory that the peer
	// has registered for RemoteWrite, without Poll and without a completion. When it returns nil the bytes are there: a
	// message that this endpoint sends afterwards arrives behind them. For other
	// ranks they are there after a Flush, as those of a Put are. src needs no
	// registration. It is the caller's, and does not change until Write returns.
	//
	// Write is for any goroutine, for several at once and beside the owner, once
	// an operation with the peer was accepted. It takes as long as the copy and
	// waits for nothing. It does not allocate unless it fails.
	//
	// It never returns ErrAgain. A Write that fails may have written a part of
	// src. The errors:
	//
	//   - ErrBadRemote as for Put.
	//   - ErrUnsupported: only Put and Send reach that memory, or no operation
	//     with the peer was accepted yet, or Caps.Write is not set. The peer is not
	//     down.
	//   - ErrPeerDown: the peer is down, or has closed or ended this rank, so that
	//     PeerDown follows; or this rank has ended the peer.
	//   - ErrClosed: the own domain is closed, or closes.
	//
	// When Close of the peer has returned, or its End has returned false, or its
	// PeerDown for this rank was called, every Write to its memory is over, and
	// later ones fail. Deregister does the same only in a transport that checks
	// each key: elsewhere the two ranks agree on when the last Write is over.
	//
	// Close of the own domain makes Writes under way fail and waits until they
	// have returned.
	Write(dst Remote, src []byte) error

	// Awake reports whether the peer polls at present, as far as is known: it does
	// not wait for its doorbell, so it can take part in a transfer. For any
	// goroutine; it costs a load or two. Where Caps.Write is not set it may be wrong.
	Awake() bool
}

// Handler receives the events of a Poll. Its methods may call Endpoint methods;
// they never block and never call Poll.
type Handler interface {
	// Deliver hands over one message. hdr and body are borrowed until return.
	Deliver(from Peer, kind uint8, imm uint64, hdr, body []byte)
	// Complete reports the completion of an accepted operation, exactly once.
	Complete(op Op, err error)
	// PeerDown reports that a peer is down, exactly once, after every Complete
	// of its operations. From then on its endpoint returns ErrPeerDown. err is an
	// ErrPeerLeft or an ErrUnreachable where other ranks may not learn of it.
	PeerDown(p Peer, err error)
}
