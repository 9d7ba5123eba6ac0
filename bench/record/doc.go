// Package record has the documents that osu-go writes about a measurement: of a
// run, of a comparison, of the machine's floor. They are JSON objects that say
// what kind they are, what was run, when, and on which machine.
//
// It is for the command osu-go, which writes them, and for package page, which
// reads them back. It imports bench/compare, bench/floor and bench/osufmt.
package record
