// Package diagnose finds out why a job hangs, from what each of its ranks says it waits for.
//
// A Rank is one rank's state: the operations that wait, the messages without a receive,
// and its side of communicators and windows. Package comm fills it in, and it travels as
// JSON (internal/peek). A Job puts those of all ranks together, and Sentences says what
// does not fit: collective calls that differ or that a rank has not made, receives whose
// message has another tag, holders of locks, partitions that are not ready, ranks that
// wait for one another, ranks that do not reply.
//
// The ranks in all of these are ranks of the job. The package is pure.
package diagnose
