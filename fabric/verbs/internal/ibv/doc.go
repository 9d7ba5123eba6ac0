// Package ibv is libibverbs for Go: the structs, the constants and the calls of
// its C interface that fabric/verbs needs. It decides nothing.
//
// A Context is an open port of a device with what every connection on it uses: a
// protection domain, a shared receive queue, a completion queue for receives and
// one for sends, and their completion channel. PostPoll is the only call on the
// path of messages: it posts and polls in one crossing into C, through memory
// that both sides share, laid out as the library's own structs.
//
// libibverbs is opened at run time (dlopen), so that a program carries no
// dependency on it. Without cgo, or without the library's headers when the
// program was built, Load says so.
//
// This is the only package with cgo. It imports the standard library and
// golang.org/x/sys/unix.
package ibv
