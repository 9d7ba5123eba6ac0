// Package progress drives communication: the loop that polls the fabric and
// hands packets to protocols, the requests that protocols complete, and the ways
// to wait for them.
//
// A rank has one Loop with one owner at a time. Ownership is a compare-and-swap
// on one word, and no goroutine waits for it. One that gets it does its
// operation in place. One that does not pushes a node on a lock-free queue,
// which the owner drains while it polls and once more after it has let go.
// Everything in a Loop without a comment to the contrary belongs to the owner
// and needs no atomics.
//
// No method of a user's value runs under ownership, because it may block, panic or
// call the engine: a function that an operation needs runs on a goroutine of its own
// (Loop.Aside). Of a context only the channel is used (expiry.Expiry). Loop.Behind runs a function after everything queued so far.
//
// The package serves the protocol packages, which register as sinks of packet
// kinds. A sink sees its own requests only (Each, Named), and names fabric operations
// that belong to no request (NameOps): deliver.go.
//
// # Requests
//
// A request is a slot of the loop's slab. A Handle is a pointer and a generation, so
// a stale copy is told from the slot's next request. A persistent request keeps its
// slot and its arguments until it is freed; a start of one that waits for a single message
// may be held until the call that waits for it (hold.go). An operation that completes in
// its call needs no slot (Loop.Instant). A request that completes finds its Waiter:
// a goroutine, a callback (OnEnd), or a hook under ownership for the engine itself
// (Orphan, Step). Where a request is not yet over, and a rank that its message may
// come from has died, it is in doubt: waits for it end, and it stays (doubt.go).
//
// A loop may drive several fabrics, each peer over one of them (domains.go).
//
// # Waiting
//
// states.go has the states of a wait, of the doorbell and of the progress thread,
// which event moves each, and why no wake-up is lost; tune.go has the constants.
// attend.go has the thread of a rank that computes. With the build tag invariants a
// loop checks the states after each transition and whenever its owner lets go. A loop
// of more ranks than cores gives the core away after every pass that finds nothing;
// of a process with more ranks than processors it runs other goroutines instead, one
// of which is the sender.
//
// # The end
//
// Loop.Close stops the thread, takes the domains away from whatever call is inside the
// loop (domains.go), closes them, and only then completes the requests. An operation
// that fails earlier follows the same order: the fabric lets go of the memory first.
//
// # Counts
//
// Each thing is counted where it happens, by the owner, with a plain store to a line
// that it has anyway. Loop.Snapshot copies everything under ownership: the loop's
// counts, those of each sink (Observe), those of each domain. What can be found by
// looking, such as the requests in flight, is
// looked up. timed.go has the times, recorder.go the timeline.
//
// # Memory order
//
// Between goroutines of a rank (store -> load: what it carries; where a bar stands both
// sides store and then load, and one of the two sees the other):
//
//   - The word of ownership given (letGo, Leave) -> taken (Enter): everything that the
//     owner did.
//   - queue.push, then a try to own | the word given, then a look at the queue:
//     sequentially consistent on both sides, so no node is stranded.
//   - A token in Waiter.ready (unpark) -> its receive: the waiter's result, and why it
//     goes on.
//   - requests.shared, by compare-and-swap with a count against reuse, on both sides: a
//     free request.
//   - A store that a Watched waits for, then Knock or Wake | the doorbell armed, then
//     Watched.Ready in the next pass: the pass sees the store, or the storing side rings.
package progress
