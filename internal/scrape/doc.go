// Package scrape shows the counters of a job that a command has started: at an address for
// Prometheus, in a file for the node exporter, or both. weft run and osu-go use it.
//
// The command's process asks the ranks at their sockets (internal/peek) whenever somebody
// looks, each for a limited time, so that one which is stopped or busy holds up nobody
// (ranks.go). A rank that leaves its job tells the process its last counters. Package
// metrics checks what the ranks say, and serves it (server.go).
package scrape
