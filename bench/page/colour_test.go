package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// colour is one in linear light: red, green, blue.
type colour [3]float64

func parseColour(s string) (c colour) {
	for i := range c {
		n, err := strconv.ParseUint(s[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		v := float64(n) / 255
		if c[i] = math.Pow((v+0.055)/1.055, 2.4); v <= 0.04045 {
			c[i] = v / 12.92
		}
	}
	return c
}

// sights are what people see who lack one sort of cone: the matrices of Machado,
// Oliveira and Fernandes (2009), at full severity.
var sights = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func (c colour) seen(m [3][3]float64) (out colour) {
	for i := range out {
		for j := range c {
			out[i] += m[i][j] * c[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// lab is a colour in CIELAB, where distances are those that people see.
func (c colour) lab() (l [3]float64) {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func apart(a, b colour) float64 {
	p, q := a.lab(), b.lab()
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// Curves of one plot have different symbols too, and the first five, more than
// there usually are, colours that everybody tells apart.
func TestColoursOfCurvesAreToldApartByEverybody(t *testing.T) {
	const first, least = 5, 17.0
	found := regexp.MustCompile(`--c([0-7]): (#[0-9a-f]{6})`).FindAllStringSubmatch(colours, -1)
	if len(found) != 2*hues {
		t.Fatalf("%d colours, want %d for light and for dark", len(found), 2*hues)
	}
	for scheme, names := range map[string][][]string{"light": found[:hues], "dark": found[hues:]} {
		for i, m := range names {
			if m[1] != fmt.Sprint(i) {
				t.Fatalf("%s: colour %s is in place %d", scheme, m[1], i)
			}
			for j := range min(i, first) {
				if i >= first {
					continue
				}
				for sight, matrix := range sights {
					if d := apart(parseColour(m[2]).seen(matrix), parseColour(names[j][2]).seen(matrix)); d < least {
						t.Errorf("%s, %s: colours %d and %d are %.1f apart, want %g", scheme, sight, j, i, d, least)
					}
				}
			}
		}
	}
	if symbol(0) == symbol(hues) || class(1) == class(1+hues) {
		t.Error("styles of one colour look the same")
	}
}
