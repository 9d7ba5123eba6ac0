package spread

import (
	"math"
	"slices"
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
	s := slices.Sorted(slices.Values(v))
	last := len(s) - 1
	at := func(p float64) float64 {
		whole, part := math.Modf(p * float64(last))
		i := int(whole)
		return s[i] + part*(s[min(i+1, last)]-s[i])
	}
	return Spread{Min: s[0], Q1: at(0.25), Median: at(0.5), Q3: at(0.75), Max: s[last], N: len(s)}
}

// Quantile returns the least of the measurements that the part p of them does
// not exceed (Hyndman and Fan's type 1). They are in ascending order, and there
// is at least one.
func Quantile(sorted []float64, p float64) float64 {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}
