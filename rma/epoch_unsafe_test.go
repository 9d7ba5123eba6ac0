package rma

import (
	"testing"
	"unsafe"
)

func TestTheEpochsOfASmallWindowFitIntoACacheLine(t *testing.T) {
	if n := unsafe.Sizeof(epochs{}); n > 64 {
		t.Errorf("they take %d bytes", n)
	}
}
