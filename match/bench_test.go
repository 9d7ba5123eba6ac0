package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The key shapes that depth is measured with. Each maps i < depth to a tag.
var shapes = []struct {
	name string
	tag  func(i int) int32
}{
	{"one_key", func(int) int32 { return 7 }},
	{"distinct", func(i int) int32 { return int32(i) }},
	{"stride1024", func(i int) int32 { return int32(i) * 1024 }},
}

var depths = []int{64, 32768}

func BenchmarkPostArrive(b *testing.B) {
	var t Table
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := t.TakeUnexpected(1, 3, 7); ok {
			b.Fatal("matched a message that never came")
		}
		t.Post(1, 3, 7, 9)
		if _, ok := t.Arrive(1, 3, 7); !ok {
			b.Fatal("no match")
		}
	}
}

// Post and arrive with a receive of each other class behind, so that the
// arrival looks into all four.
func BenchmarkPostArriveAmongWildcards(b *testing.B) {
	var t Table
	t.Post(1, 4, AnyTag, 0)
	t.Post(1, AnySource, 8, 0)
	t.Post(2, AnySource, AnyTag, 0)
	b.ReportAllocs()
	for b.Loop() {
		t.Post(1, 3, 7, 9)
		if _, ok := t.Arrive(1, 3, 7); !ok {
			b.Fatal("no match")
		}
	}
}

func BenchmarkPostArriveAnySource(b *testing.B) {
	var t Table
	b.ReportAllocs()
	for b.Loop() {
		t.Post(1, AnySource, 7, 9)
		if _, ok := t.Arrive(1, 3, 7); !ok {
			b.Fatal("no match")
		}
	}
}

// The queue holds depth receives throughout; each turn takes one, chosen at
// random among the keys, and posts it again.
func BenchmarkPostArriveDepth(b *testing.B) {
	for _, depth := range depths {
		for _, shape := range shapes {
			b.Run(fmt.Sprintf("%d/%s", depth, shape.name), func(b *testing.B) {
				var t Table
				for i := range depth {
					t.Post(1, 3, shape.tag(i), uint32(i))
				}
				order := rand.New(rand.NewPCG(1, 2)).Perm(depth)
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					tag := shape.tag(order[n])
					id, ok := t.Arrive(1, 3, tag)
					if !ok {
						b.Fatal("no match")
					}
					t.Post(1, 3, tag, id)
					if n++; n == depth {
						n = 0
					}
				}
			})
		}
	}
}

// Each turn posts depth receives with distinct tags and takes them from the far
// end; ns/op is for one receive, post included.
func BenchmarkPostArriveFarEnd(b *testing.B) {
	const depth = 32768
	var t Table
	n := 0
	for b.Loop() {
		if n == 0 {
			for i := range int32(depth) {
				t.Post(1, 3, i, 0)
			}
			n = depth
		}
		n--
		if _, ok := t.Arrive(1, 3, int32(n)); !ok {
			b.Fatal("no match")
		}
	}
}

func BenchmarkUnexpected(b *testing.B) {
	var t Table
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := t.Arrive(1, 3, 7); ok {
			b.Fatal("matched a receive that never was")
		}
		t.AddUnexpected(1, 3, 7, 9)
		if _, ok := t.TakeUnexpected(1, 3, 7); !ok {
			b.Fatal("no match")
		}
	}
}

func BenchmarkUnexpectedDepth(b *testing.B) {
	receives := []struct {
		name           string
		anySrc, anyTag bool
	}{{"exact", false, false}, {"any_tag", false, true}, {"any_source", true, false}, {"any_any", true, true}}
	for _, depth := range depths {
		for _, shape := range shapes {
			for _, recv := range receives {
				b.Run(fmt.Sprintf("%d/%s/%s", depth, shape.name, recv.name), func(b *testing.B) {
					var t Table
					for i := range depth {
						t.AddUnexpected(1, 3, shape.tag(i), uint32(i))
					}
					order := rand.New(rand.NewPCG(1, 2)).Perm(depth)
					b.ReportAllocs()
					n := 0
					for b.Loop() {
						src, tag := int32(3), shape.tag(order[n])
						if recv.anySrc {
							src = AnySource
						}
						if recv.anyTag {
							tag = AnyTag
						}
						id, ok := t.TakeUnexpected(1, src, tag)
						if !ok {
							b.Fatal("no match")
						}
						t.AddUnexpected(1, 3, shape.tag(int(id)), id)
						if n++; n == depth {
							n = 0
						}
					}
				})
			}
		}
	}
}
