package floor

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weft-mpi/weft/bench/spread"
)

// lineSize is the length of a cache line in bytes.
const lineSize = 64

// CopySizes are the lengths in bytes of the copies that are measured,
// ascending.
var CopySizes = []int{64 << 10, 1 << 20, 4 << 20}

// ErrOneCore is returned by a measurement that has only one core to run on.
var ErrOneCore = errors.New("the floor needs two cores")

// Floor is one measurement of the limits, or several merged. It is a plain
// value.
type Floor struct {
	CPUs   [2]int        `json:"cpus"`
	LineNs spread.Spread `json:"line_ns"` // half a round trip of one cache line
	Copies []Copy        `json:"copies"`  // in the order of CopySizes
}

// Copy is the rate of one core that copies Size bytes from one buffer to
// another repeatedly.
type Copy struct {
	Size int           `json:"size"`
	GBs  spread.Spread `json:"gb_s"` // 1e9 bytes a second
}

// Measure measures on two cores for about budget in total. It blocks for that
// time and keeps both cores busy; the calling process's own affinity does not
// change. The cores are the first two that this process may use, which are
// those that the local launcher binds ranks 0 and 1 to.
func Measure(budget time.Duration) (Floor, error) {
	cpus, err := allowed()
	if err != nil {
		return Floor{}, err
	}
	if len(cpus) < 2 {
		return Floor{}, fmt.Errorf("%w, and this process may use core %v only: widen its affinity (taskset, cgroup cpuset) or use another machine", ErrOneCore, cpus[0])
	}
	f := Floor{CPUs: [2]int{cpus[0], cpus[1]}}
	part := budget / time.Duration(1+len(CopySizes))
	if f.LineNs, err = line(f.CPUs[0], f.CPUs[1], part); err != nil {
		return f, err
	}
	for _, n := range CopySizes {
		s, err := copies(f.CPUs[0], n, part)
		if err != nil {
			return f, err
		}
		f.Copies = append(f.Copies, Copy{Size: n, GBs: s})
	}
	return f, nil
}

// Merge is the floor over several measurements on the same cores: the spread
// of their medians. fs must not be empty.
func Merge(fs []Floor) Floor {
	m := Floor{CPUs: fs[0].CPUs}
	pick := func(of func(Floor) float64) spread.Spread {
		v := make([]float64, len(fs))
		for i, f := range fs {
			v[i] = of(f)
		}
		return spread.Of(v)
	}
	m.LineNs = pick(func(f Floor) float64 { return f.LineNs.Median })
	for i, c := range fs[0].Copies {
		m.Copies = append(m.Copies, Copy{c.Size, pick(func(f Floor) float64 { return f.Copies[i].GBs.Median })})
	}
	return m
}

// Latency is the least time in microseconds of a message of size bytes that is
// copied once: one cache line that announces it and, above lineSize, the copy.
func (f Floor) Latency(size int) float64 {
	us := f.LineNs.Median / 1e3
	if size > lineSize {
		us += float64(size) / (f.rate(size) * 1e3)
	}
	return us
}

// Bandwidth is the rate in MB/s of one core that copies messages of size bytes.
func (f Floor) Bandwidth(size int) float64 { return f.rate(size) * 1e3 }

// rate interpolates between the copies over the logarithm of the size. Smaller
// and larger copies have the rate of the nearest one.
func (f Floor) rate(size int) float64 {
	c := f.Copies
	for i := range c {
		switch {
		case size > c[i].Size:
			continue
		case i == 0:
			return c[0].GBs.Median
		}
		lo, hi := c[i-1], c[i]
		t := math.Log(float64(size)/float64(lo.Size)) / math.Log(float64(hi.Size)/float64(lo.Size))
		return lo.GBs.Median + t*(hi.GBs.Median-lo.GBs.Median)
	}
	return c[len(c)-1].GBs.Median
}
