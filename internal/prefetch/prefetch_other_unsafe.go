//go:build !amd64

package prefetch

import "unsafe"

func Write(unsafe.Pointer, uintptr) {}

func Read(unsafe.Pointer) {}
