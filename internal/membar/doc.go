// Package membar is the memory order that sync/atomic has no call for: a store that
// is a release and no more, and a fence between loads. It imports nothing of Weft.
package membar
