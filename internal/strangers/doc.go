// Package strangers keeps what others do to a job within bounds: processes of other users
// on the same machine, and whoever reaches it over the network.
//
// Text of another process is shown as one printable line (text.go). Events that anybody
// can cause are counted, and told once a minute at most (log.go). The names of sockets
// can't be guessed before the sockets are there (name.go). Connections that have not
// proved anything get a part of the process's descriptors (limit.go).
package strangers
