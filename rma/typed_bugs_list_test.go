//go:build bugs

package rma

import "github.com/weft-mpi/weft/internal/testkit/planted"

// The tests that find the bugs of typedBugs, besides programs and hostile.
const (
	interleaved = "TestColumns"
	evictions   = "TestATypeThatWasEvicted"
	strangers   = "TestAnUnknownType"
	alignments  = "TestElementsOfAllAlignments"
	detached    = "TestElementsBeside"
	difficult   = "TestProgramsOverAFaulty"
	pairs       = "TestPairs"
)

// typedBugs are the mistakes that TestPlantedBugsOfTypes makes, one at a time.
var typedBugs = planted.List{
	{"displacement 0 is at the first element", "rma/typed_send.go",
		"		p.At = uint64(y.x.At)\n", "		p.At = uint64(y.low)\n", programs},
	{"each piece is the first", "rma/typed_serve.go",
		"	p.at.Seek(int(h.Offset))\n", "", programs},
	{"a result lies at its beginning", "rma/typed_send.go",
		"old.Seek(o.typed.first + o.got)", "old.Seek(o.typed.first)", programs},
	{"operands that were packed are sent again", "rma/typed_send.go",
		"if y.packed != at+n {", "if y.packed == 0 {", programs},
	{"all pieces take the same operands", "rma/typed.go",
		"a, b, m = a+k, b+k, m-k", "a, m = a+k, m-k", programs},
	{"what is packed on its way does not arrive", "internal/datatype/copy_unsafe.go",
		"\t\tto.Unpack(room[:k])\n", "", programs},
	{"a type that has left its place is known", "rma/typed_cache.go",
		"			delete(s.known, old.code)\n", "", evictions},
	{"the type that was used last leaves its place", "rma/typed_cache.go",
		"if s.places[i].used < s.places[at].used {", "if s.places[i].used > s.places[at].used {", evictions},
	{"the number of a type is its place", "rma/typed_cache.go",
		"if g == nil || g.places[id%maxTypes].id != id {", "if g == nil {", strangers},
	{"who names a type that is not known is ended", "rma/typed_serve.go",
		"return isRefused, wire.RUnknown, n", "return isBroken, 0, 0", strangers},
	{"bytes that are no type are one", "rma/typed_cache.go",
		"			t = nil\n", "			t = datatype.Of(datatype.Byte)\n", strangers},
	{"whoever reaches an element that is not aligned changes it", "rma/typed.go",
		"if !owner && needsOwner(", "if false && needsOwner(", "TestElementsThatAreNotAligned"},
	{"what is left for the owner begins again", "rma/typed.go",
		"w.beginTyped(x, done, false,", "w.beginTyped(x, 0, false,", alignments},
	{"the owner changes elements again", "rma/typed.go",
		"			s.seek(done)\n", "", alignments},
	{"what lies between elements is accessed", "rma/typed_access.go",
		"p.low+uint64(off), uint64(n))", "p.low+uint64(off), uint64(len(p.mem)-off))", interleaved},
	{"of the own elements the first byte is accessed", "rma/typed_access.go",
		"uint64(x.At+lo+off), uint64(n))", "uint64(x.At+lo+off), uint64(n)/8)", interleaved},
	{"a request completes with the first of its pieces", "rma/typed_native.go",
		"v.posted < o.n && !v.stopped || v.under > 0 {", "v.posted < o.n && !v.stopped {", "TestProgramsOverReal"},
	{"what the fabric has refused is not sent", "rma/typed_native.go",
		"if o.failure == nil && v.refused {", "if false {", difficult},
	{"few pieces go in packets", "rma/typed_native.go",
		"bytes == o.n && pieces <= fewPieces || ", "", "TestFewOrLong"},
	{"a refusal tells of displacement 0", "rma/typed_serve.go",
		"return isRefused, e.Addr, e.Bytes", "return isRefused, h.At, e.Bytes", detached},
	{"elements may end behind the part", "rma/typed_serve.go",
		"case from <= size && n <= size-from:", "case from <= size:", hostile},
	{"elements without a kind are combined", "rma/typed_serve.go",
		"!ok || p.kind == 0 || KindOf", "!ok || KindOf", "TestNoOperatorFitsPackedBytes"},
	{"operators combine pairs with their padding", "rma/typed_pairs.go",
		"			to.Seek(at)\n			to.Unpack(operands[:n])\n", "			to.Unpack(operands[:n])\n", pairs},
}
