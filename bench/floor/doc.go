// Package floor measures the limits of the machine: the time to move one cache
// line between two cores, and the rate at which one core copies memory. No
// message between two ranks takes less than the first. No message that one core
// copies is faster than the second; a protocol in which both ranks copy can be.
//
// It is for package compare and the command osu-go. The speed of a shared
// machine changes from minute to minute, so a comparison measures the limits in
// the same run. It imports bench/spread.
package floor
