// Package fabrictest is the conformance suite of package fabric: every
// transport runs it from its own tests, through a Harness that opens the
// domains of a few ranks in one process.
//
// The suite asks for what the contract says and for no more: Poll may hand
// over fewer events than it could, Send may answer ErrAgain at any time, Wait
// may return early, a bad Remote may be refused by the call or by Complete.
// What a test waits for comes within 30 s or fails the test by name.
//
// fabrictest imports fabric and nothing else of Weft.
package fabrictest
