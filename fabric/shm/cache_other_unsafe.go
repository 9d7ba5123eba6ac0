//go:build !amd64

package shm

import "unsafe"

func prefetchWrite(unsafe.Pointer, uintptr) {}

func demote(unsafe.Pointer, uintptr) {}
