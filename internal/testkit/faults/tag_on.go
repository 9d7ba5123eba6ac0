//go:build faults

package main

// wrapped says that package transports wraps what it opens: it has the same tag.
const wrapped = true
