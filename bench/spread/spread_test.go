package spread

import (
	"fmt"
	"math"
	"testing"
)

func ExampleOf() {
	s := Of([]float64{4, 1, 3, 2, 5})
	fmt.Println(s.Median, s.Q1, s.Q3)
	// Output: 3 2 4
}

func ExampleQuantile() {
	fmt.Println(Quantile([]float64{1, 2, 3, 4}, 0.5), Quantile([]float64{1, 2, 3, 4}, 0.51), Quantile([]float64{1, 2, 3, 4}, 0.99))
	// Output: 2 3 4
}

func TestQuartilesAreThoseOfType7(t *testing.T) {
	for _, tc := range []struct {
		in   []float64
		want Spread
	}{
		{[]float64{7}, Spread{7, 7, 7, 7, 7, 1}},
		{[]float64{2, 1}, Spread{1, 1.25, 1.5, 1.75, 2, 2}},
		{[]float64{1, 2, 3, 4}, Spread{1, 1.75, 2.5, 3.25, 4, 4}},
		{[]float64{6, 6, 6}, Spread{6, 6, 6, 6, 6, 3}},
		{[]float64{7, 6, 5, 4, 3, 2, 1}, Spread{1, 2.5, 4, 5.5, 7, 7}},
	} {
		got := Of(tc.in)
		for i, d := range []float64{got.Min - tc.want.Min, got.Q1 - tc.want.Q1, got.Median - tc.want.Median, got.Q3 - tc.want.Q3, got.Max - tc.want.Max} {
			if math.Abs(d) > 1e-12 || got.N != tc.want.N {
				t.Errorf("%v: got %+v, want %+v (field %d)", tc.in, got, tc.want, i)
			}
		}
	}
}
