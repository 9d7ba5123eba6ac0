package pin

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func TestKeysOfOthersAreRefused(t *testing.T) {
	mine, other := NewSigner([16]byte{1, 15: 2}), NewSigner([16]byte{1, 15: 3})
	k := mine.Key(0xdeadbeef, fabric.RemoteRead|fabric.LocalWrite)
	if !mine.Made(k) || !Permits(k, fabric.RemoteRead) {
		t.Error("a good key is refused")
	}
	if Permits(k, fabric.RemoteWrite) || other.Made(k) {
		t.Error("a key is accepted for what it does not permit, or from another")
	}
	for bit := range 64 {
		if mine.Made(k ^ 1<<bit) {
			t.Errorf("accepted with bit %d changed", bit)
		}
	}
}

// Any bytes may be read from the table of a peer.
func FuzzDecodeKeys(f *testing.F) {
	b := make([]byte, KeySize)
	EncodeKeys(b, [MaxPorts]uint32{7, 8, 9, 10})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(b, make([]byte, KeySize)...)[:KeySize]
		if keys, ok := DecodeKeys(b, 7); ok && keys[0] != 7 {
			t.Errorf("the keys %v are another memory's", keys)
		}
	})
}

// An entry is found by the key of the first port, and no other's is taken for it.
func TestAnEntryOfKeysIsWhole(t *testing.T) {
	b, want := make([]byte, KeySize), [MaxPorts]uint32{7, 8, 9, 10}
	EncodeKeys(b, want)
	if got, ok := DecodeKeys(b, 7); !ok || got != want {
		t.Errorf("%v, %t", got, ok)
	}
	if _, ok := DecodeKeys(b, 8); ok {
		t.Error("another memory's entry is taken")
	}
	for i := range b[:4*MaxPorts+8] {
		b[i] ^= 1
		if _, ok := DecodeKeys(b, 7); ok {
			t.Errorf("an entry with byte %d changed is taken", i)
		}
		b[i] ^= 1
	}
}
