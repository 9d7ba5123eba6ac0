//go:build !faults

package main

// wrapped is explained in tag_on.go.
const wrapped = false
