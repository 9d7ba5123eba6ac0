// Faults prints the kill matrix: for each state of a protocol, each transport
// and each role of the rank that dies, what became of the other ranks of a job.
//
//	go run -tags faults ./internal/testkit/faults -runs 100 -run 'FIN|Get' -transport tcp
//
// Each run is a job of four processes. One is killed by SIGKILL when the state is
// reached: at a point of its own or its partner's traffic (package killpoint), or a
// random time of up to some milliseconds later, as the seed says. Ranks 0 and 1
// are the sender and the receiver of the state; ranks 2 and 3 talk to each other,
// and if the third party dies, that is rank 2. The others have to end what they
// have begun, with the bytes that were sent or with an error that names the dead
// rank, go on talking to each other, and leave in order with nothing kept.
//
// A run fails in three ways: it hangs, an outcome is wrong, or something is left
// (descriptors, goroutines, shared memory, sockets, processes). The exit code is
// then 1.
//
// The command is its own ranks. It needs the tag faults, which has package transports
// wrap what it opens. The wrapper also has large messages take ways that the transport
// itself would not choose: fragments, or writes by the sender.
package main
