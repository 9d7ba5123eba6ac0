//go:build !race

package pt2pt

const raceEnabled = false
