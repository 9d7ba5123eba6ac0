// Package coll has the schedules of collective calls (MPI-4.0 chapter 6) as data:
// what each rank sends, receives and reduces, in which order (Plan). Choose picks
// an Algorithm for a call by the number of ranks and bytes, and Make has it make
// the plan of one rank from the arguments that it shares with the others (Shape).
//
// The package does no I/O and imports nothing but the standard library: package
// comm executes plans, blocking or not. The tests run the plans of all ranks in one
// goroutine, with expressions for values and no buffer between ranks, and check
// that every rank gets what MPI says:
//
//	go test ./internal/coll -run Symbolic
//	go test ./internal/coll -run Symbolic -full -timeout 2h
package coll
