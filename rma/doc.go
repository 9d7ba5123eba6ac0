// Package rma is one-sided communication (MPI-4.0 chapter 12): windows on memory of
// the ranks of a communicator, transfers to and from it, and the waiting that orders
// them.
//
// Where loads and stores reach a rank's part of a window (fabric.Endpoint.Reach), an
// operation is done by the calling goroutine before it returns. Else the fabric carries
// out Put and Get, and packets the rest, which the owner of the target's loop executes.
// A Transfer goes the same way whoever of a window's ranks makes it, or a way that is
// as atomic.
package rma
