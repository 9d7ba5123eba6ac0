package rma

import "testing"

// BenchmarkFlush is an operation of 8 bytes over a fabric, and its flush: what they cost
// beside the fabric's own work.
func BenchmarkFlush(b *testing.B) {
	w := newRig(b, 2, byFabric).windows(b, 16, 8)[0]
	buf := make([]byte, 8)
	for _, c := range []struct {
		name string
		x    Transfer
	}{{"put", Transfer{Src: buf, Target: 1}}, {"get", Transfer{Old: buf, Target: 1}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.do(&c.x)
				if err := w.flush(noContext, 1, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
