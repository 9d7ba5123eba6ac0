package datatype

import (
	"math"
	"math/bits"
)

// checked is arithmetic that remembers whether a result did not fit. Then results
// are 0, and so is what is computed from them: the caller looks once, at the end.
type checked struct {
	over bool // a number was too large
	deep bool // a tree was too deep
}

func (k *checked) add(a, b int) int {
	s := a + b
	if (a^s)&(b^s) < 0 {
		k.over = true
		return 0
	}
	return s
}

func (k *checked) sub(a, b int) int {
	d := a - b
	if (a^b)&(a^d) < 0 {
		k.over = true
		return 0
	}
	return d
}

func (k *checked) mul(a, b int) int {
	hi, lo := bits.Mul(magnitude(a), magnitude(b))
	negative := (a < 0) != (b < 0)
	switch {
	case hi == 0 && lo <= math.MaxInt:
		if negative {
			return -int(lo)
		}
		return int(lo)
	case hi == 0 && negative && lo == 1<<(bits.UintSize-1):
		return math.MinInt
	}
	k.over = true
	return 0
}

func magnitude(a int) uint {
	if a < 0 {
		return -uint(a)
	}
	return uint(a)
}

// err is ErrTooLarge or ErrTooDeep, or nil.
func (k *checked) err() error {
	switch {
	case k.over:
		return ErrTooLarge
	case k.deep:
		return ErrTooDeep
	}
	return nil
}
