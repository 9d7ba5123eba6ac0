// Package membar is the memory order that sync/atomic has no call for: a store that
// is a release and no more, a fence between loads, a full fence, and one in all threads
// of the process. It imports nothing of Weft.
package membar
