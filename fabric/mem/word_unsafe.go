package mem

import "unsafe"

// word returns the first 8 bytes of b as the word that hardware atomics act
// on. b has 8 bytes and is aligned: regions.enter has checked both.
func word(b []byte) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(b))) }

// misalignment returns how far the start of b is past a multiple of 8.
func misalignment(b []byte) uint64 { return uint64(address(b) % 8) }

func address(b []byte) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
