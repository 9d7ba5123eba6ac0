// Package job is how the ranks of a job come to talk: which transports there are
// and what each reaches, opening them, and the meeting at which the ranks tell
// one another their addresses.
//
// It is for package mpi, which calls Join in a launched process and Goroutines
// for ranks of one process, and gives the Routes to the engine. It is set-up code
// only: nothing in it is on the path of a message. No other package imports a
// transport, so what users see of one goes through here too: Alloc and Free
// (memory.go), Devices and SharedGetMin (devices.go).
//
// # Fabrics
//
// A fabric is a list of transports, joined by "+". Each transport reaches the
// goroutines of one process, the processes of one machine, or the network; the
// list is in the order of the table in transports.go, the nearer first. A rank is
// reached over the first transport of the list that reaches it: "shm+verbs" is
// shared memory within a machine and verbs between machines.
//
// A transport that is named has to be available at every rank. "auto" is mem for
// a rank alone, otherwise all transports that the job may need: there one that a
// rank does not have, for lack of a device say, is passed over, as long as
// another of the same reach is there, and two ranks talk over the first that both
// have (choose.go, meet.go).
//
// # Settings
//
// Package job is the one place that reads the transports' settings from the
// environment (options.go). Each transport says which it knows and checks them.
//
// Package job imports boot, fabric, the transports and wire.
package job
