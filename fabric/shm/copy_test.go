package shm

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"
)

// Bodies around the length from which they are copied by a string instruction come
// whole, wherever they lie in memory, and nothing behind them is written to.
func TestLongBodiesComeWhole(t *testing.T) {
	p, c := newRing(mostPayload)
	defer unix.Munmap(p.mem)
	p.ringMem, c.ringMem = fullRing(p.mem), fullRing(p.mem)
	src := make([]byte, maxEager+64)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{stringMin - 1, stringMin, stringMin + 1, maxEager - 1, maxEager} {
		for _, at := range []int{0, 1, 31, 63} {
			off, _ := p.place(p.payTail, n)
			rest := p.payload(off, maxEager+64)[n:]
			for i := range rest {
				rest[i] = 0xee
			}
			if !p.put(1, 0, nil, src[at:at+n]) {
				t.Fatal("no room")
			}
			if !bytes.Equal(rest, bytes.Repeat([]byte{0xee}, len(rest))) {
				t.Errorf("%d bytes from %d on: something behind them was written to", n, at)
			}
			if _, body, ok := c.take(); !ok || !bytes.Equal(body, src[at:at+n]) {
				t.Errorf("%d bytes from %d on came wrong", n, at)
			}
		}
	}
}
