// Package spread reduces repeated measurements to a median and quartiles.
//
// It is for packages bench, floor and compare. It imports nothing of Weft.
package spread
