package coll

import "testing"

// What an executor saves that keeps plans.
func BenchmarkMake(b *testing.B) {
	for _, c := range []struct {
		name string
		call Call
		size int
	}{{"Allreduce/2", Allreduce, 2}, {"Allreduce/64", Allreduce, 64}, {"Exscan/64", Exscan, 64}, {"Alltoall/64", Alltoall, 64}} {
		b.Run(c.name, func(b *testing.B) {
			s := Shape{Rank: 1, Size: c.size, Count: 1, Bytes: 8}
			b.ReportAllocs()
			for b.Loop() {
				Make(c.call, &s)
			}
		})
	}
}
