package rma

// lockAt names a lock word: that of a target, or the global one, which rank 0 of
// the window has.
type lockAt struct {
	rank   int
	global bool
}

// lockEverywhere is the target of LockAll.
const lockEverywhere = -1

// lockOrigin is what a rank's operations on the locks of a window share. They may
// overlap, at different targets. The caller sees to it that the methods of a
// lockOrigin and of its operations are called one at a time.
type lockOrigin struct {
	rank  int
	held  int // locks that this rank has
	side  lockSideState
	sides int // exclusive locks that this rank has, or is about to have: with any the side is sideHad

	taker  *lockOp   // takes the side
	parked []*lockOp // wait until taker has it, or until it has been given back
}

// lockSideState is how far a rank is with the claim to the global word that all its
// exclusive locks share.
type lockSideState uint8

const (
	sideNone lockSideState = iota
	sideTaken
	sideHad
	sideLeft // is being given back
)

// lockPort is what an origin needs of the memory that it reaches, and of the loop.
// Direct, Load, CAS, Mark, Knock and Wake are for any goroutine; the others are
// called in steps that the owner of the loop makes, see lockOp.Sends.
type lockPort interface {
	Direct(at lockAt) bool // loads and stores reach the word
	Load(at lockAt) lockWord
	CAS(at lockAt, old, next lockWord) bool
	Mark(at lockAt, c lockClaim)  // of this rank at that word
	Dead(rank int) bool           // its death is known here
	Knock(rank int)               // tells the owner to Look
	Wake(op *lockOp)              // the operation, which was parked, goes on
	Request(op *lockOp)           // sends op.at, op.claim and op.holding
	Press(at lockAt, c lockClaim) // sends that the request is of a rank that holds a lock
	Release(at lockAt, c lockClaim)
}

// park parks an operation that needs the side while another one takes it or gives it
// back. One that holds a lock presses the taker's request: what waits for the
// taker waits for holders only.
func (s *lockOrigin) park(op *lockOp) {
	s.parked = append(s.parked, op)
	op.stage = lockParked
	if t := s.taker; t != nil && op.holding && !t.holding {
		t.holding = true
		if t.stage == lockWait {
			op.stage = lockPress
		}
	}
}

// turn changes how far the rank is with the side, and wakes those that wait for that.
func (s *lockOrigin) turn(p lockPort, side lockSideState) {
	s.side, s.taker = side, nil
	woken := s.parked
	s.parked = nil
	for _, op := range woken {
		op.stage = lockAim
		p.Wake(op)
	}
}
