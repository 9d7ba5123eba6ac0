// Package pt2pt is point-to-point communication (MPI-4.0 chapter 3): the
// protocols that carry a message, by its length and the fabric's capabilities,
// and the matching of messages with receives.
//
//	eager.go      one packet, copied in and out
//	chunks.go     several packets, so that both copies overlap
//	rndv_get.go   RTS; the receiver reads the sender's memory; FIN
//	rndv_put.go   RTS, Grant; the sender writes the receiver's memory; Written
//	rndv_frag.go  RTS, CTS, fragments: where memory can't be read
//	self.go       messages of a rank to itself
//
// A communicator's contexts begin and end in contexts.go; freed.go drops the
// messages that nothing can receive any more.
//
// It serves packages comm and mpi and imports fabric, group, match, progress and
// wire.
package pt2pt
