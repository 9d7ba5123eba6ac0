//go:build faults

package main

// wrapped says that package job wraps its transports: it has the same tag.
const wrapped = true
