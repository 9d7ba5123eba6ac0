package mem

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

	"github.com/weft-mpi/weft/fabric"
)

// SimConfig says what network a Sim plays. The chances are in 256.
type SimConfig struct {
	Size  int
	Depth int         // messages that an ordered pair holds before Send answers ErrAgain
	Caps  fabric.Caps // of every domain

	Again  int // operations that answer ErrAgain without need
	Split  int // Polls that hand over fewer events than they could
	NoGet  int // Gets and Puts that are refused with ErrUnsupported
	BadGet int // Gets, Puts and Atomics that are accepted and fail
	Mapped int // memory that peers have mapped
	NoReg  int // Registers that fail

	// ArmFences says that Arm makes visible what all ranks have stored, as
	// membarrier(2) does, so that Knock only looks whether somebody sleeps. Without
	// it Knock makes visible what its own rank has stored, and then looks.
	ArmFences bool

	// Meet, unless nil, says which ranks reach one another over this network:
	// only those learn of each other's death.
	Meet func(a, b int) bool

	// Observe, unless nil, is told of everything that happens, before it does.
	// It calls nothing of the Sim.
	Observe func(SimEvent)
}

// DrawSim draws a network of size ranks: thresholds so low that a message of a
// few hundred bytes is a long one, rings of a few slots, any mix of faults.
func DrawSim(rng *rand.Rand, size int) SimConfig {
	maybe := func(one, most int) int { // 0, but for one case in so many
		if rng.IntN(one) > 0 {
			return 0
		}
		return 1 + rng.IntN(most)
	}
	c := SimConfig{Size: size, Depth: 1 + rng.IntN(4)}
	if rng.IntN(3) == 0 {
		c.Depth = 4 + rng.IntN(60)
	}
	eager := 8 + rng.IntN(57)
	c.Caps = fabric.Caps{
		MaxEager:      eager,
		Chunk:         1 + rng.IntN(eager),
		RndvMin:       1 + rng.IntN(4*eager),
		RndvMinMapped: 1 + rng.IntN(2*eager),
		Get:           rng.IntN(4) > 0,
		Put:           rng.IntN(2) == 0,
	}
	c.Caps.PutFirst = c.Caps.Put && rng.IntN(2) == 0
	c.Caps.LocalUnregistered = c.Depth%3 == 0
	c.Again, c.Split = maybe(2, 160), maybe(2, 255)
	c.NoGet, c.BadGet = maybe(3, 128), maybe(6, 64)
	c.Mapped, c.NoReg = maybe(3, 255), maybe(6, 64)
	// What follows has a generator of its own, so that it changes nothing that
	// the caller draws next.
	own := rand.New(rand.NewPCG(uint64(eager)<<32|uint64(c.Depth), uint64(c.Caps.Chunk)<<32|uint64(c.Caps.RndvMin)))
	c.Caps.Atomics = own.IntN(4) > 0
	c.Caps.Reach = own.IntN(4) > 0
	c.ArmFences = own.IntN(2) == 0
	return c
}

// SimWhat is what happens in a Sim.
type SimWhat uint8

const (
	SimSent     SimWhat = iota + 1 // Rank's Send towards Peer was accepted
	SimAgain                       // ... or answered ErrAgain
	SimGet                         // Rank's Get, Put, Atomic or Flush was accepted: Op
	SimNoGet                       // ... or answered an error other than ErrAgain: Err
	SimArrive                      // a message of Peer is there for Rank's Poll
	SimDeliver                     // Rank's Poll hands it over
	SimTransfer                    // a Get, Put, Atomic or Flush of Rank's is carried out, or has failed: Err
	SimComplete                    // Rank's Poll ends it
	SimDeath                       // Rank is dead
	SimDown                        // Rank's Poll reports the death of Peer
	SimMisuse                      // Rank has broken the contract: Err
	SimStore                       // what Rank has stored becomes visible to all
	SimKnock                       // Rank's Knock found that Peer sleeps
	SimRing                        // Rank's doorbell rings
)

var simWhats = [...]string{SimSent: "sent", SimAgain: "again", SimGet: "get", SimNoGet: "no-get", SimArrive: "arrive",
	SimDeliver: "deliver", SimTransfer: "transfer", SimComplete: "complete", SimDeath: "death", SimDown: "down", SimMisuse: "misuse",
	SimStore: "store", SimKnock: "knock", SimRing: "ring"}

func (w SimWhat) String() string { return simWhats[w] }

// SimEvent is something that happens. Hdr and Body are borrowed.
type SimEvent struct {
	What       SimWhat
	Rank, Peer int
	Kind       uint8
	Imm        uint64
	Hdr, Body  []byte
	Op         fabric.Op
	Put        bool // of a transfer: a Put
	Err        error
}

// Sim is a network of ranks that a single goroutine drives, step by step. What
// is sent stays on its way until a move brings it on; moves are made one by
// one, by the caller's choice (Do) or drawn (Step). All chance is in the one
// generator, so the same seed and the same calls give the same events.
//
// Memory of Share has a view for each rank: what that rank loads and stores. A
// rank's stores wait in a buffer. Moves bring them into the memory in the order in
// which they were made, and from there into the views of all (TSO). The Sim looks
// for stores whenever it is called. It does not know the order of those that a rank
// has made since the last call, so they become visible all at once. A store is one
// of 8 aligned bytes, and a release, whatever it is made with. So a Sim says
// nothing about compare-and-swap in memory of Reach (Atomic is right), and does not
// see a store of what the word holds already.
//
// A message and the ring of a Knock come behind what their sender had stored
// before. Arm or Knock makes stores visible too: see ArmFences. Registered memory
// has no views, and Reach answers ErrUnsupported to it.
//
// A doorbell rings for what Domain.Arm says, and Woken tells of it. But Wait
// blocks until the domain is closed, and Wake does nothing, so a progress thread
// never wakes up: the driver plays the sleeper.
type Sim struct {
	SimConfig
	rng     *rand.Rand
	domains []*simDomain
	links   []simLink // from*size+to
	shares  []*simShare
	moves   []SimMove // scratch

	accepted uint64 // Gets, Puts, Atomics and Flushes
}

// simLink is what an ordered pair of ranks has under way.
type simLink struct {
	flight []simItem
	count  int // in flight or in the inbox
	slow   int // how often Step passes it over, in 256
}

// simItem is an event for a rank: on its way, or in its inbox.
type simItem struct {
	what   fabricCall
	peer   int
	stored uint64 // what the sender had stored: see simBuffer
	kind   uint8
	imm    uint64
	hdr    []byte
	body   []byte
	op     fabric.Op
	err    error
}

// fabricCall is the method of fabric.Handler that an item becomes.
type fabricCall uint8

const (
	callDeliver fabricCall = iota
	callComplete
	callDown
)

// NewSim makes a network. All its chance comes from rng.
func NewSim(rng *rand.Rand, c SimConfig) *Sim {
	c.Depth = max(c.Depth, 1)
	s := &Sim{SimConfig: c, rng: rng, links: make([]simLink, c.Size*c.Size)}
	for i := range s.links {
		if c.Again+c.Split > 0 && rng.IntN(3) == 0 {
			s.links[i].slow = rng.IntN(256)
		}
	}
	for r := range c.Size {
		s.domains = append(s.domains, newSimDomain(s, r))
	}
	return s
}

func (s *Sim) link(from, to int) *simLink { return &s.links[from*s.Size+to] }

func (s *Sim) chance(of256 int) bool { return of256 > 0 && s.rng.IntN(256) < of256 }

func (s *Sim) tell(e SimEvent) {
	if s.Observe != nil {
		s.Observe(e)
	}
}

// Name, Options, Available and Open make the Sim a fabric.Provider.

func (s *Sim) Name() string      { return "sim" }
func (s *Sim) Options() []string { return nil }
func (s *Sim) Available() error  { return nil }

func (s *Sim) Open(c fabric.Config) (fabric.Domain, error) {
	if int(c.Rank) >= s.Size || c.Size != s.Size {
		return nil, &fabric.Error{Op: "open sim domain", Peer: c.Rank, HasPeer: true,
			Err: fmt.Errorf("the network has %d ranks, the job %d", s.Size, c.Size)}
	}
	return s.domains[c.Rank], nil
}

// Config is what rank opens its domain with.
func (s *Sim) Config(rank int) fabric.Config {
	return fabric.Config{Rank: fabric.Peer(rank), Size: s.Size, Job: "sim", Log: slog.New(slog.DiscardHandler)}
}

// Addrs are the addresses of all ranks.
func (s *Sim) Addrs() (addrs [][]byte) {
	for r := range s.Size {
		addrs = append(addrs, addr(fabric.Peer(r)))
	}
	return addrs
}

// Calm ends all faults; what is slow stays slow.
func (s *Sim) Calm() { s.Again, s.Split, s.NoGet, s.BadGet, s.NoReg = 0, 0, 0, 0, 0 }

// Quiet reports that nothing is on its way or waits for a Poll.
func (s *Sim) Quiet() bool {
	return !slices.ContainsFunc(s.domains, func(d *simDomain) bool { return len(d.inbox) > 0 && !d.dead }) && len(s.Moves()) == 0
}

// Regions is how many regions a rank has registered.
func (s *Sim) Regions(rank int) int { return len(s.domains[rank].regions) }

// Waiting is how many events a rank's Poll would find.
func (s *Sim) Waiting(rank int) int { return len(s.domains[rank].inbox) }

// ErrSim is in the errors of Gets and Registers that fail by chance.
var ErrSim = errors.New("the network failed")
