// Package greet introduces two ranks over a stream: it accepts connections, has both
// sides prove that they are of the job, hands what each has to say to the other,
// and bounds the time and the number of those who have not yet proved anything. What
// is said is the transport's: queue pairs, rings, nothing.
//
//	dialer   greeting
//	listener greeting, proof
//	dialer   proof, offer
//	listener verdict, with an answer or the reason
//	dialer   ready
//
// A greeting is a magic word, a version, a rank, the size of its job, and a nonce. A
// proof is an HMAC under the listener's token, which only ranks of the job are told,
// over the job's name and both greetings. Integers are little-endian.
//
// It takes any io.ReadWriter: over a Unix socket one may pass descriptors along
// with the offer and the answer. It serves transports below fabric, and imports the
// standard library.
package greet
