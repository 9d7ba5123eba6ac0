// Package floor measures what the machine itself costs: moving one cache line
// between two cores, and copying memory on one core. No message between two
// ranks can be cheaper than the first, and none that is copied once by one core
// can be faster than the second; a scheme in which both ranks copy can.
//
// It is for the command osu-go, alone and beside a comparison: these machines
// change from minute to minute, so a limit has to be taken in the same run. It
// imports bench/spread.
package floor
