package rma

import (
	"math"
	"testing"
)

func TestPartsHaveATotalOrAreTooLong(t *testing.T) {
	for _, c := range []struct {
		bytes []int
		want  int
		fits  bool
	}{
		{nil, 0, true},
		{[]int{0, 1, 64, 65}, 0 + 64 + 64 + 128, true},
		{[]int{math.MaxInt - 127}, math.MaxInt - 127, true},
		{[]int{math.MaxInt - 127, 1}, math.MaxInt - 63, true},
		{[]int{math.MaxInt - 127, 1, 1}, 0, false},
		{[]int{math.MaxInt}, 0, false},
		{[]int{math.MaxInt/2 + 1, math.MaxInt/2 + 1}, 0, false},
		{[]int{-1}, 0, false},
	} {
		var parts []Extent
		for _, n := range c.bytes {
			parts = append(parts, Extent{Bytes: n})
		}
		if n, fits := Total(parts); n != c.want || fits != c.fits {
			t.Errorf("parts of %d: %d, %t; want %d, %t", c.bytes, n, fits, c.want, c.fits)
		}
	}
}
