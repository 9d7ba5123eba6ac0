package fabrictest

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// Harness is what a transport gives to be tested.
type Harness struct {
	// Open makes a new job of n ranks in this process and returns their
	// domains in the order of rank. Domain i is reached by Connect(i, its
	// Addr()). The harness closes them through t.Cleanup; the suite may have
	// closed some before.
	Open func(t testing.TB, n int) []fabric.Domain

	// Kill ends a rank of the job that Open made last as a crash would, nil if
	// the transport can't do that to a rank of this process.
	Kill func(t testing.TB, rank fabric.Peer)

	// Alloc returns memory that peers map (Domain.Mapped) until the test ends,
	// nil if there is none.
	Alloc func(t testing.TB, n int) []byte

	// ChecksRemote says that every Remote is checked against what the peer has
	// registered. Without it a Remote may reach the peer's whole memory, and
	// the suite gives only good ones.
	ChecksRemote bool

	// Writes says that Write is offered.
	Writes bool

	// PutNeedsPeer says that a Put is carried out by calls of the peer.
	PutNeedsPeer bool

	// NoSelf says that a rank has no endpoint to itself.
	NoSelf bool

	// RingsForRoom says that the doorbell also rings, at either level, when a
	// peer that answered ErrAgain has room again.
	RingsForRoom bool

	// WakesForAll says that a rank armed with WakeUrgent wakes for any message.
	WakesForAll bool

	// Allocates says that the transport is for tests, and allocates as it likes.
	Allocates bool

	// Brief makes the cases about races a fifth as long, as go test -short does: for a second
	// run over a transport that has passed them whole.
	Brief bool
}

// rounds is how many rounds of n a case about lost wake-ups has.
func (h Harness) rounds(n int) int {
	if h.Brief || testing.Short() {
		return n / 5
	}
	return n
}

// Run runs the suite, each case on a job of its own.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"Caps make sense and do not change", capsMakeSense},
		{"A message arrives with its exact kind, immediate, header and body", exactContent},
		{"A peer that has not connected back receives", oneSidedConnect},
		{"Connect returns the same endpoint again", sameEndpoint},
		{"Buffers may be reused when Send returns", buffersReusable},
		{"An oversized header or body answers ErrTooLong and sends nothing", tooLong},
		{"A full peer answers ErrAgain, loses nothing and recovers/empty messages", fullPeerEmpty},
		{"A full peer answers ErrAgain, loses nothing and recovers/largest messages", fullPeerLargest},
		{"Messages stay in order over many laps of the queue", manyLaps},
		{"Send, Poll and a refused Send allocate nothing", noAllocation},
		{"Poll hands over at most max events", pollMax},
		{"Polls for one event each hand everything over beside a flood", oneAtATime},
		{"Both directions run at once", bothDirections},
		{"Five ranks send all to all", allToAll},
		{"A handler may send from within Deliver", sendFromDeliver},
		{"A rank sends to itself", sendToSelf},

		{"What Caps does not offer answers ErrUnsupported", unsupported},
		{"Get reads exact bytes and touches nothing else", getExact},
		{"Put writes exact bytes and touches nothing else", putExact},
		{"A message behind a Put arrives after its bytes", messageAfterBytes},
		{"Each operation completes once and only from Poll", completesOnce},
		{"FetchAdd and CompareSwap return the old value", atomicValues},
		{"Atomics of several ranks lose no update", atomicsConcurrent},
		{"A message behind the end of a Put and an Atomic finds what they did", putThenSend},
		{"A Put that was flushed is seen by a rank that a third one tells", flushedForThird},
		{"NoOps are over with a Flush and complete nothing", quietOps},
		{"The failure of a NoOp Put is told by its Flush, once", quietFailure},
		{"A Put and a Flush need no call of the peer", aloneFlush},
		{"What a rank shares is reached by loads and stores", sharedMemory},
		{"What a rank shares is reached by Put, Get and Atomic", sharedRemote},
		{"Share without room answers an error", shareEnds},
		{"Memory stays where Reach found it as the peer grows", reachStays},
		{"Memory that was reached outlives the peer", reachOutlives},
		{"Reach of memory that is nowhere answers ErrBadRemote", reachRefuses},
		{"Linger is one switch and changes no answer", lingerSwitch},
		{"Write is offered where the harness says so", writersAsSaid},
		{"Write writes exact bytes and touches nothing else", writeExact},
		{"A message behind a Write finds its bytes", writeThenSend},
		{"Goroutines write at once beside their owner", writeTogether},
		{"Write allocates nothing", writeNoAllocation},
		{"Write before the connection stands is refused or done", writeEarly},
		{"A bad Remote answers ErrBadRemote and harms nothing", badRemotes},

		{"A message sent before Arm is found or rings", sentBeforeArm},
		{"A message after Arm rings", sentAfterArm},
		{"WakeUrgent sleeps through a plain message", urgentSleepsThroughPlain},
		{"WakeUrgent wakes for an Urgent message", urgentWakesForUrgent},
		{"WakeUrgent wakes for a filling queue", urgentWakesForFilling},
		{"No wake-up is lost in 10,000 rounds/WakeAll", pingPongAll},
		{"No wake-up is lost in 10,000 rounds/WakeUrgent", pingPongUrgent},
		{"No wake-up is lost when Arm meets Send/WakeAll", armMeetsSendAll},
		{"No wake-up is lost when Arm meets Send/WakeUrgent", armMeetsSendUrgent},
		{"No wake-up is lost when Arm meets a store and a Knock/WakeAll", knockWakesAll},
		{"No wake-up is lost when Arm meets a store and a Knock/WakeUrgent", knockWakesUrgent},
		{"A Knock that is not urgent lets sleep who waits for urgent things", plainKnock},
		{"A sleeper wakes when a full peer has room", wakesForRoom},
		{"Wake makes the present or the next Wait return", wake},
		{"Wait ends with its timeout", waitTimeout},

		{"Close makes Wait return ErrClosed", closeWakes},
		{"Calls after Close answer ErrClosed", afterClose},
		{"Close with operations in flight is quiet", closeInFlight},
		{"A closed peer is reported once, after its operations", peerClosed},
		{"What a closed peer has sent comes before its end", sentBeforeClose},
		{"The first message of a peer that closes at once comes", sentAndClosed},
		{"Memory of a closed peer is read no more", getFromClosed},
		{"Memory of a rank that closes is its own/heap", closedMemory},
		{"Memory of a rank that closes is its own/mapped", closedMapped},
		{"Memory of a rank that ends its peers is its own/heap", endedMemory},
		{"Memory of a rank that ends its peers is its own/mapped", endedMapped},
		{"A rank that ends a peer has the end of each operation once", endInFlight},
		{"Nothing is written to a rank that has closed", writeToClosed},
		{"Nothing is written to a rank that has ended its peers", writeToEnded},
		{"Nothing is written to memory that was deregistered", writeToDeregistered},
		{"Nothing is written by ranks that leave each other", writeBesideLeaving},
		{"Close waits for the goroutines that write", writeBesideClose},
		{"Write to a peer that is down answers ErrPeerDown", writeToDown},
		{"A closed peer wakes a sleeper", closedWakes},
		{"A dead peer is reported once, after its operations", peerDown},
		{"A dead peer wakes a sleeper", peerDownWakes},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
}
