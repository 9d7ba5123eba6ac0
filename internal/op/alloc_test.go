//go:build !race

// Under the race detector a sync.Pool forgets at random.

package op_test

import (
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

func TestNoOperatorAllocates(t *testing.T) {
	ops := append([]*op.Op{forms["Of"], forms["Vector"]}, predefined...)
	for _, o := range ops {
		for k := op.Bool; k <= op.TwoDouble; k++ {
			if _, err := o.Func(k); err != nil {
				continue
			}
			for _, size := range []int{16, 40000} {
				lower, upper, to := aligned(size), aligned(size), aligned(size)
				for _, to := range [][]byte{lower, upper, to} {
					if n := testing.AllocsPerRun(100, func() {
						f, err := o.Func(k)
						if err != nil {
							t.Error(err)
						}
						f(lower, upper, to)
					}); n != 0 {
						t.Errorf("%v of %d bytes of %v allocates %v times", o, size, k, n)
					}
				}
			}
		}
	}
}

func TestKindOfDoesNotAllocate(t *testing.T) {
	var sum op.Kind
	if n := testing.AllocsPerRun(100, func() {
		sum += op.KindOf[complex128]() + op.KindOf[celsius]() + op.KindOf[flag]() + op.KindOf[int]()
	}); n != 0 {
		t.Errorf("KindOf allocates %v times", n)
	}
}
