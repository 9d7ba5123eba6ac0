// Package report says in words what a rank waits for, and why it hangs.
//
// It serves package mpi. Write writes a World.Report: what is in flight at the
// rank, and a diagnosis with the replies of other ranks (diagnose.go). A
// Watchdog finds operations that have been blocked for too long, OnQuit reports
// at a SIGQUIT, and Aside hands the log's records to the user's handler on a
// goroutine of its own. It queries package pt2pt and changes nothing. The ranks
// in reports are ranks of the job.
//
// Package report imports pt2pt.
package report
