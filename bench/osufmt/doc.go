// Package osufmt writes and reads the tables of the OSU Micro-Benchmarks, a
// layout that many scripts already read.
//
// Writer prints a table exactly as OSU 7.4 does, so that such scripts need no
// change. Parse reads the output of any program that prints this layout,
// including older versions and output with a launcher's own lines. Package
// compare and the command osu-go use both. It imports nothing of Weft.
package osufmt
