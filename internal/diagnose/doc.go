// Package diagnose finds out why a job hangs, from what each of its ranks says it waits for.
//
// A Rank is one rank's state: the operations that wait, the messages without a receive,
// and its side of communicators and windows. Package comm fills it in, and it travels as
// JSON, to commands (internal/peek) and to other ranks. A Job puts the states of ranks
// together, and Sentences says what does not fit: collective calls that differ or that a
// rank has not made, receives whose message has another tag, holders of locks, partitions
// that are not ready, ranks that wait for one another, ranks that do not reply.
//
// The waiting is a graph of ranks: a goroutine goes on when as many of its operations as it
// needs complete; an operation waits for all of its parts, and a part for all of some ranks,
// or for one of them. The stuck ranks are the greatest set whose members are all held by
// members (knot.go). Lasting compares two questions: what has not changed, at ranks that
// have heard from those they need, has waited at the moment between the two, and nothing was
// on its way that could end it.
//
// The ranks in all of these are ranks of the job.
//
// A Watchdog finds operations that have been blocked for too long, OnQuit reports at a
// SIGQUIT, Place finds the program's line, and a LogQueue hands the log's records to the
// user's handler. The package imports nothing of Weft.
package diagnose
