package topo

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// bestProducts has, by n and k, the best of all falling products of k factors that make n:
// it is made by multiplication, of all products in turn.
func bestProducts(top, most int) [][][]int {
	best := make([][][]int, top+1)
	for n := range best {
		best[n] = make([][]int, most+1)
	}
	var extend func(product []int, n int)
	extend = func(product []int, n int) {
		if old := best[n][len(product)]; old == nil || slices.Compare(product, old) < 0 {
			best[n][len(product)] = slices.Clone(product)
		}
		if len(product) == most {
			return
		}
		limit := top / n
		if len(product) > 0 {
			limit = min(limit, product[len(product)-1])
		}
		for f := 1; f <= limit; f++ {
			extend(append(product, f), n*f)
		}
	}
	extend(make([]int, 0, most), 1)
	return best
}

func TestDimsAgainstExhaustiveSearch(t *testing.T) {
	const top, most = 10_000, 4
	best := bestProducts(top, most)
	for n := 1; n <= top; n++ {
		all := divisors(n)
		for k := 1; k <= most; k++ {
			if got, err := Dims(n, make([]int, k)); err != nil || !slices.Equal(got, best[n][k]) {
				t.Fatalf("%d in %d dimensions: %v, %v, want %v", n, k, got, err, best[n][k])
			}
			for i := range k - 1 { // one that is given, or two
				given, at := all[(n+i)%len(all)], (n+i)%k
				dims := make([]int, k-1)
				want := slices.Clone(best[n/given][k-1])
				if second := divisors(n / given); i == 1 {
					dims[0] = second[n%len(second)]
					want = append([]int{dims[0]}, best[n/given/dims[0]][k-2]...)
				}
				dims, want = slices.Insert(dims, at, given), slices.Insert(want, at, given)
				if got, err := Dims(n, dims); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d in %v: %v, %v, want %v", n, dims, got, err, want)
				}
			}
		}
	}
}

func TestDimsByHand(t *testing.T) {
	for _, c := range []struct {
		n, item    int
		dims, want []int
	}{
		{72, 0, []int{0, 0}, []int{9, 8}},
		{16, 0, []int{0, 0, 0}, []int{4, 2, 2}},
		{6, 0, []int{0, 3, 0}, []int{2, 3, 1}},
		{1, 0, nil, []int{}},
		{1, 0, []int{0, 1}, []int{1, 1}},
		{12, 0, []int{3, 4}, []int{3, 4}},
		{1_000_003 * 1_000_033, 0, []int{0, 0}, []int{1_000_033, 1_000_003}},
		{1<<40 - 87, 0, []int{0, 0, 0}, []int{1<<40 - 87, 1, 1}}, // a prime
		{963_761_198_400, 0, []int{0, 0}, []int{982_800, 980_628}},
		{1 << 40, 0, []int{0, 0, 0, 0, 0, 0}, []int{128, 128, 128, 128, 64, 64}},
		{0, -1, []int{0}, nil},
		{math.MinInt, -1, []int{0}, nil},
		{2, -1, nil, nil},
		{12, -1, []int{3, 2}, nil},
		{12, 1, []int{0, -1}, nil},
		{12, 1, []int{0, math.MinInt}, nil},
		{12, 0, []int{5, 0}, nil},
		{12, 1, []int{4, 4, 0}, nil},
		{12, 0, []int{math.MaxInt, math.MaxInt}, nil},
	} {
		given := slices.Clone(c.dims)
		got, err := Dims(c.n, c.dims)
		var wrong *DimsError
		if c.want == nil {
			if !errors.As(err, &wrong) || wrong.Item != c.item || wrong.Error() == "" {
				t.Errorf("%d in %v: %v, %v", c.n, c.dims, got, err)
			}
		} else if err != nil || got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%d in %v: %v, %v, want %v", c.n, c.dims, got, err, c.want)
		}
		if !slices.Equal(given, c.dims) {
			t.Errorf("Dims changed what it was given, %v, to %v", given, c.dims)
		}
	}
	// A number with very many divisors, in as many dimensions as it has factors and more.
	const n = 963_761_198_400
	for _, k := range []int{1, 2, 3, 8, 20, 40} {
		got, err := Dims(n, make([]int, k))
		product := 1
		for i, d := range got {
			if product *= d; i > 0 && d > got[i-1] {
				t.Fatalf("%v rises", got)
			}
		}
		if err != nil || product != n {
			t.Fatalf("%v makes %d, %v", got, product, err)
		}
	}
}
