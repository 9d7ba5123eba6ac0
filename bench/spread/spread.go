package spread

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
)

// Spread describes the distribution of measurements. It is a plain value.
type Spread struct {
	Min    float64 `json:"min"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// Of returns the spread of v, which must not be empty and is not changed.
// Quartiles between two measurements are interpolated (Hyndman and Fan's type
// 7, as in R and NumPy).
func Of(v []float64) Spread {
	s := slices.Clone(v)
	slices.Sort(s)
	n := len(s)
	if n == 1 {
		return Spread{s[0], s[0], s[0], s[0], s[0], 1}
	}
	var at interp.PiecewiseLinear
	if err := at.Fit(floats.Span(make([]float64, n), 0, 1), s); err != nil {
		panic(fmt.Sprintf("spread: %v", err)) // the lengths agree and are above 1
	}
	return Spread{Min: s[0], Q1: at.Predict(0.25), Median: at.Predict(0.5), Q3: at.Predict(0.75), Max: s[n-1], N: n}
}
