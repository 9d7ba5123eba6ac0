// Package peek lets commands ask the ranks of a job on this host what they are doing.
//
// Each rank listens at an abstract Unix socket whose name has the job, the rank, and
// a tag that only the job knows beforehand (name.go). A question is one line of JSON, the reply another one, and then the
// connection ends (protocol.go). Either side checks by SO_PEERCRED that the other one is
// of the same user, or of root. The socket is closed by exec, and goes with its process.
//
// A Server (server.go) replies on goroutines of its own, so also while the application
// computes. An answer that needs the owner of the rank's loop has a patience: when that
// is over, the reply says since when the owner has not come. List and Ask (client.go)
// find the ranks and ask them all at once. As a rank leaves its job it says something
// unasked, to a Listener of the command that has started it, if there is one
// (farewell.go).
//
// Package peek knows neither engine nor answers: those belong to package mpi and to the
// commands.
package peek
