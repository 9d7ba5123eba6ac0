// Package osufmt writes and reads the tables of the OSU Micro-Benchmarks, the
// layout that the scripts of this field already read.
//
// Writer prints a table to the letter of OSU 7.4, so that nothing has to be
// taught about Weft; Parse reads the output of any program that prints this
// layout, older versions and launcher noise included. Package compare and the
// command osu-go use both. It imports nothing of Weft.
package osufmt
