package fabrictest

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// noise is random and so are its parts, which are the bodies of messages.
var noise = func() []byte {
	b := make([]byte, 5<<20)
	rng := rand.NewChaCha8([32]byte{'w', 'e', 'f', 't'})
	rng.Read(b)
	return b
}()

// content returns n bytes that depend on id. The caller does not write to them.
func content(id uint64, n int) []byte {
	off := mix(id) % uint64(len(noise)-n+1)
	return noise[off : off+uint64(n) : off+uint64(n)]
}

// mix scrambles x: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// parcel is a message made from a number, so that the receiver can make it too.
type parcel struct {
	kind      uint8
	imm       uint64
	hdr, body []byte
}

func newParcel(id uint64, hdrLen, bodyLen int) parcel {
	return parcel{uint8(mix(id)), mix(id + 1), content(id+2, hdrLen), content(id+3, bodyLen)}
}

// mixed is the parcel of a stream with many short and few long messages.
func mixed(id uint64, maxEager int) parcel {
	x := mix(id ^ 0x5eed)
	top := min(maxEager, 16384)
	switch x % 64 {
	case 0:
		top = maxEager
	case 1, 2, 3, 4, 5, 6, 7, 8:
	case 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20:
		top = min(top, 1024)
	default:
		top = min(top, 64)
	}
	return newParcel(id, int(x>>8%49), int(x>>16%uint64(top+1)))
}

func (p parcel) equal(kind uint8, imm uint64, hdr, body []byte) bool {
	return p.kind == kind && p.imm == imm && bytes.Equal(p.hdr, hdr) && bytes.Equal(p.body, body)
}

// bodyLengths are the lengths at which a transport may change its way.
func bodyLengths(maxEager int) []int {
	l := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 39, 40, 41, 47, 48, 49, 55, 56, 57,
		maxEager/2 - 1, maxEager / 2, maxEager/2 + 1, maxEager - 1, maxEager}
	for _, edge := range []int{64, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 65536} {
		l = append(l, edge-1, edge, edge+1)
	}
	slices.Sort(l)
	l = slices.Compact(l)
	return slices.DeleteFunc(l, func(n int) bool { return n < 0 || n > maxEager })
}
