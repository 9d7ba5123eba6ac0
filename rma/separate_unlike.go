package rma

import "encoding/binary"

// unlike is where two memories of one length differ from an offset on: from at to end,
// which are equal if they are alike.
//
// The program may store to a while the owner of the loop looks, in a program with the
// very mistake that is looked for: the race detector is not to find it here.
//
//go:norace
func unlike(a, b []byte, from int) (at, end int) {
	for at = from; at+8 <= len(a) && binary.NativeEndian.Uint64(a[at:]) == binary.NativeEndian.Uint64(b[at:]); {
		at += 8
	}
	for at < len(a) && a[at] == b[at] {
		at++
	}
	for end = at; end < len(a) && a[end] != b[end]; {
		end++
	}
	return at, end
}
