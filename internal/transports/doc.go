// Package transports connects the ranks of a job: the list of transports and their
// reach, opening them, and the exchange of addresses.
//
// It serves package mpi, which calls Join in a launched process and Goroutines
// for ranks of one process, and gives the Routes to the engine. It is set-up
// code only, off the path of a message. No other package opens a transport, so
// users reach features of transports through it too: Alloc and Free (memory.go),
// Devices and SharedGetMin (devices.go, threshold.go).
//
// # Fabrics
//
// A fabric is a list of transports, joined by "+". Each transport reaches the
// goroutines of one process, the processes of one machine, or the network; the
// list is in the order of the table in transports.go, the nearer first. A rank is
// reached over the first transport of the list that reaches it: "shm+verbs" is
// shared memory within a machine and verbs between machines.
//
// A named transport must be available at every rank. "auto" is mem for a rank
// alone, otherwise all transports that the job may need: between machines shm+verbs+tcp.
// Under auto a rank may lack one, for want of a device say, as long as it has another of
// the same reach and the user has not configured it: its settings would be ignored
// silently. The cards that ranks exchange list their transports, and two ranks use the
// first that both have (choose.go, meet.go).
//
// # Settings
//
// Package transports reads the transports' settings from the environment (options.go).
// Each transport lists and checks its own.
//
// In a build with the tag faults, and no other, each transport between processes is
// wrapped for the kill matrix (killpoint.go).
package transports
