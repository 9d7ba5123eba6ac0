package diagnose

import "slices"

// Rank is what one rank says of itself.
type Rank struct {
	Rank     int  `json:"rank"`
	Threaded bool `json:"threaded"` // it has a progress thread
	// Callbacks is the number of operations that end in a callback, which may make calls.
	Callbacks  int         `json:"callbacks,omitempty"`
	Waits      []Wait      `json:"waits"`
	Goroutines []Goroutine `json:"goroutines"`
	Arrived    []Message   `json:"arrived,omitempty"` // without a receive, the first ones
	Comms      []Comm      `json:"comms,omitempty"`
	Windows    []Window    `json:"windows,omitempty"`
}

// Cut leaves as many entries in each list. Without some of the operations that goroutines
// are blocked in, the rank has no such goroutine: it counts as one that can go on.
func (r *Rank) Cut(most int) {
	if slices.ContainsFunc(r.Waits[min(len(r.Waits), most):], func(w Wait) bool { return w.Goroutine > 0 }) {
		r.Goroutines = nil
	}
	r.Waits, r.Arrived = r.Waits[:min(len(r.Waits), most)], r.Arrived[:min(len(r.Arrived), most)]
	r.Comms, r.Windows = r.Comms[:min(len(r.Comms), most)], r.Windows[:min(len(r.Windows), most)]
}

// Goroutine is a goroutine that is blocked in operations, those with its number.
type Goroutine struct {
	Need int `json:"need"` // so many of them must complete
}

// Kind is what kind of operation waits.
type Kind string

const (
	Send          Kind = "send"
	Receive       Kind = "receive"
	Probe         Kind = "probe"
	Collective    Kind = "collective"
	Lock          Kind = "lock"  // of a window
	Start         Kind = "start" // of an access epoch
	Close         Kind = "wait"  // for the end of an exposure epoch
	Flush         Kind = "flush" // of one-sided operations, those with a request too
	PartitionSend Kind = "partitioned send"
	PartitionRecv Kind = "partitioned receive"
	Other         Kind = "other"
)

// AnyRank and AnyTag are wildcards of a Wait.
const (
	AnyRank = -1
	AnyTag  = -2
)

// Wait is an operation that has not completed.
type Wait struct {
	Kind      Kind   `json:"kind"`
	Op        uint64 `json:"op"`              // identifies it among the rank's
	Group     uint64 `json:"group,omitempty"` // not 0: operations with the same one complete together, as the halves of a Sendrecv
	What      string `json:"what,omitempty"`  // in words, where the kind does not say it
	State     string `json:"state,omitempty"` // how far it has come
	Comm      uint32 `json:"comm"`            // its communicator or window
	Peer      int    `json:"peer"`            // or AnyRank
	Tag       int    `json:"tag"`             // or AnyTag
	Bytes     uint64 `json:"bytes"`
	Seconds   int    `json:"seconds"`             // since when
	Place     string `json:"place,omitempty"`     // the line of the program
	Goroutine int    `json:"goroutine,omitempty"` // the one that is blocked in it, from 1 on; 0: none is

	// Unmatched says that no message, or no receive, has matched it as far as the rank
	// knows.
	Unmatched bool `json:"unmatched,omitempty"`
	// Needs are the ranks without whose next calls it can't complete: all of them, or, if
	// Any is set, one. Without any it may complete by itself.
	Needs []int `json:"needs,omitempty"`
	Any   bool  `json:"any,omitempty"`

	// Of a collective call: which one, and its number among those of the communicator.
	// That of Last is the next one.
	Call   string `json:"call,omitempty"`
	Number uint32 `json:"number,omitempty"`

	// Of a lock: whose word it needs, and the claim. Global is the word at the first rank
	// of the window, where LockAll and exclusive locks exclude each other.
	Target int    `json:"target,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Global bool   `json:"global,omitempty"`

	// Of a partitioned operation: partitions, from first to last, that are not ready or
	// have not arrived, the first ones, and how many it has.
	Missing    [][2]int `json:"missing,omitempty"`
	Partitions int      `json:"partitions,omitempty"`
}

// Last is how the Call of the barrier begins that Finalize and Disconnect end with.
const Last = "Finalize"

// Message is one that has arrived, or is announced, and has no receive.
type Message struct {
	From  int    `json:"from"`
	Tag   int    `json:"tag"`
	Comm  uint32 `json:"comm"`
	Bytes uint64 `json:"bytes"`
}

// Comm is a rank's side of a communicator.
type Comm struct {
	ID      uint32 `json:"id"` // its context
	Name    string `json:"name,omitempty"`
	Window  bool   `json:"window,omitempty"`  // it is that of a window
	Members []int  `json:"members,omitempty"` // by rank in it; none: all of the job
	Remote  []int  `json:"remote,omitempty"`  // of an intercommunicator
	Calls   uint32 `json:"calls"`             // collective calls so far
	Recent  []Call `json:"recent,omitempty"`  // the last ones
}

// Call is a collective call that a rank has made.
type Call struct {
	Number uint32 `json:"number"`
	Text   string `json:"text"`
}

// Window is a rank's side of a window.
type Window struct {
	ID    uint32 `json:"id"` // of its communicator
	Epoch string `json:"epoch"`
	Lock  Word   `json:"lock"`             // of the rank's own part
	All   *Word  `json:"global,omitempty"` // at the first rank
}

// Word is the state of a lock: who has which claim, and who waits for one, in order.
type Word struct {
	Held    []Claim `json:"held,omitempty"`
	Waiting []Claim `json:"waiting,omitempty"`
}

// Claim is what a rank has of a lock, or waits for: "shared", "exclusive", or "side", of
// the global word, which ranks have that hold exclusive locks.
type Claim struct {
	Rank  int    `json:"rank"`
	Claim string `json:"claim"`
}

// conflicts reports whether two ranks may not have the two claims to a word.
func conflicts(a, b string) bool { return a != b || a == "exclusive" }
