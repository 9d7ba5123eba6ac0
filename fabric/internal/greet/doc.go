// Package greet introduces two ranks over a stream: it accepts connections, has both
// sides prove that they are of the job, hands what each has to say to the other,
// and bounds the time and the number of those who have not yet proved anything. What
// is said is the transport's: queue pairs, rings, nothing.
//
//	dialer   opening: greeting, cookie
//	listener greeting, proof
//	dialer   proof, offer
//	listener verdict, with an answer or the reason
//	dialer   ready
//
// A greeting is a magic word, a version, a rank, the size of its job, and a nonce;
// the dialer's also names the job and the rank that is called. A cookie is a MAC of
// the opening: what has none is dropped at once. A proof is an HMAC over the job's
// name and both greetings, so it is good once. Both are made with the job's key or,
// where there is none, with the listener's token, which only ranks of the job are
// told. Integers are little-endian.
//
// Ranks that go on over an encrypted connection prove over it that it is theirs
// (Channel).
//
// A Server greets who calls; Doors greet at several addresses, and keep places for
// those with a cookie apart from those of strangers.
//
// It takes any io.ReadWriter: over a Unix socket one may pass descriptors along
// with the offer and the answer. It serves transports below fabric, and imports the
// standard library.
package greet
