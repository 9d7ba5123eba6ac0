package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// axis maps values to a length of the drawing.
type axis struct {
	lo, hi   float64 // values
	from, to float64 // where they are
	linear   bool
}

// at is the place of a value.
func (a axis) at(v float64) float64 {
	t := (v - a.lo) / (a.hi - a.lo)
	if !a.linear {
		t = math.Log(v/a.lo) / math.Log(a.hi/a.lo)
	}
	return a.from + t*(a.to-a.from)
}

// tick is a mark of an axis.
type tick struct {
	At    float64
	Label string
}

// valueAxis is an axis for values from lo to hi, logarithmic if they are
// positive. The axis is a little longer.
func valueAxis(lo, hi, from, to float64, linear bool) axis {
	a := axis{from: from, to: to, linear: linear || !(lo > 0)}
	if a.linear {
		a.lo, a.hi = min(lo, 0), hi*1.05
		if !(a.hi > a.lo) {
			a.hi = a.lo + 1
		}
		return a
	}
	if least := 1.6; hi/lo < least { // else noise looks like a slope
		grow := math.Sqrt(least / (hi / lo))
		lo, hi = lo/grow, hi*grow
	}
	margin := math.Pow(hi/lo, 0.03)
	a.lo, a.hi = lo/margin, hi*margin
	return a
}

// ticks are marks of the axis at round values. Their labels are gap apart or
// more.
func (a axis) ticks(gap float64) []tick {
	var last []tick
	for _, values := range a.candidates() {
		last = last[:0]
		fits := len(values) > 0
		for i, v := range values {
			last = append(last, tick{a.at(v), round(v)})
			fits = fits && (i == 0 || math.Abs(last[i].At-last[i-1].At) >= gap)
		}
		if fits && len(values) > 1 {
			return last
		}
	}
	return last
}

// candidates are sets of round values on the axis, the finest first.
func (a axis) candidates() (sets [][]float64) {
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/8)))
	if a.linear || a.hi/a.lo < 8 {
		for _, m := range []float64{1, 2, 5, 10, 20, 50} {
			sets = append(sets, a.multiples(step*m))
		}
	}
	if a.linear {
		return sets
	}
	for _, mantissas := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		sets = append(sets, a.decades(mantissas, 1))
	}
	for every := 2; every <= 16; every *= 2 {
		sets = append(sets, a.decades([]float64{1}, every))
	}
	return sets
}

func (a axis) multiples(step float64) (v []float64) {
	for n := math.Ceil(a.lo/step - 1e-9); n*step <= a.hi*(1+1e-9) && len(v) < 100; n++ {
		v = append(v, n*step)
	}
	return v
}

func (a axis) decades(mantissas []float64, every int) (v []float64) {
	first, last := int(math.Floor(math.Log10(a.lo))), int(math.Ceil(math.Log10(a.hi)))
	for e := first; e <= last; e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range mantissas {
			if x := m * math.Pow10(e); x >= a.lo && x <= a.hi {
				v = append(v, x)
			}
		}
	}
	return v
}

// sizeAxis is an axis for the positive sizes from lo to hi, which differ.
func sizeAxis(lo, hi int, from, to float64) axis {
	return axis{lo: float64(lo), hi: float64(hi), from: from, to: to}
}

// powers are marks at powers of two, with labels gap apart or more.
func (a axis) powers(gap float64) []tick {
	first, last := int(math.Ceil(math.Log2(a.lo)-1e-9)), int(math.Floor(math.Log2(a.hi)+1e-9))
	if first >= last { // no two powers: the ends
		return []tick{{a.from, osufmt.SizeName(int(a.lo))}, {a.to, osufmt.SizeName(int(a.hi))}}
	}
	each := math.Abs(a.at(2*a.lo) - a.at(a.lo))
	every := 1
	for each*float64(every) < gap {
		every *= 2 // then the labels are 1, 4, 16 or 1, 16, 256
	}
	var ticks []tick
	for e := first; e <= last; e += every {
		ticks = append(ticks, tick{a.at(math.Exp2(float64(e))), osufmt.SizeName(1 << e)})
	}
	return ticks
}

// counts are marks at whole numbers, gap apart or more.
func (a axis) counts(gap float64) []tick {
	each := math.Abs(a.at(a.lo+1) - a.at(a.lo))
	every := 1
	for _, m := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000} {
		if every = m; each*float64(m) >= gap {
			break
		}
	}
	var ticks []tick
	for n := max(every, 1); float64(n) <= a.hi; n += every {
		ticks = append(ticks, tick{a.at(float64(n)), exactly(n)})
	}
	return ticks
}

// number prints a value with three significant digits, and thousands apart;
// from a million on with a letter.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 999.5e9 || a < 1e-6:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 999.5e6:
		return digits(v/1e9) + "G"
	case a >= 999_500:
		return digits(v/1e6) + "M"
	}
	return digits(v)
}

func digits(v float64) string {
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))+1e-12))
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', max(0, decimals), 64), ".")
	whole = thousands(whole)
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// round prints the value of a tick: its last zeros say nothing, and there is
// little room.
func round(v float64) string {
	s := number(v)
	if a := math.Abs(v); a >= 99_950 && a < 999_500 {
		s = digits(v/1e3) + "k"
	}
	unit := strings.TrimLeft(s, "-0123456789.,")
	if s = strings.TrimSuffix(s, unit); strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + unit
}

// exactly prints a whole number with thousands apart.
func exactly(n int) string { return thousands(fmt.Sprint(n)) }

func thousands(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
