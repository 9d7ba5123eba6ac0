package compare

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// sizeTicks marks powers of two and labels as many as there is room for.
type sizeTicks struct{}

func (sizeTicks) Ticks(lo, hi float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(lo)-1e-9)), int(math.Floor(math.Log2(hi)+1e-9))
	every := 1 + (last-first)/12
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-first)%every == 0 {
			t.Label = bytesName(1 << max(e, 0))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks marks 1, 2 and 5 times the powers of ten. It labels the powers of
// ten, and all marks if there are few.
type decadeTicks struct{}

func (decadeTicks) Ticks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow10(e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || math.Log10(hi/lo) < 2.5 {
				t.Label = fmt.Sprintf("%.6g", v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
