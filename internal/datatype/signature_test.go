package datatype

import (
	"testing"

	"pgregory.net/rapid"
)

// plainSig folds the kinds of a list one by one.
func plainSig(kinds []Kind) Sig {
	var s sum
	for _, k := range kinds {
		s = s.concat(kindSum(k))
	}
	return s.sig()
}

func kindsOf(m naive, count int) (kinds []Kind) {
	for range count {
		for _, e := range m.data() {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

func TestSignaturesAreThoseOfTheListsKinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTree(wild(rt), 4)
		count := rapid.IntRange(0, 4).Draw(rt, "elements")
		kinds := kindsOf(tr.m, count)
		if got, want := tr.t.Sig(count), plainSig(kinds); got != want {
			rt.Fatalf("the signature is %x, not %x:%s", got, want, tr.text)
		}
		n := rapid.IntRange(0, len(kinds)).Draw(rt, "prefix")
		if got, want := tr.t.SigPrefix(count, uint64(n)), plainSig(kinds[:n]); got != want {
			rt.Fatalf("the signature of %d elements is %x, not %x:%s", n, got, want, tr.text)
		}
		if got := tr.t.SigPrefix(count, uint64(len(kinds)+1)); got != tr.t.Sig(count) {
			rt.Fatalf("the signature of more elements than there are is %x:%s", got, tr.text)
		}
	})
}

func TestSignaturesDifferWhereKindsDo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(int(Bool), int(Byte)), 1, 40)
		a, b := list.Draw(rt, "one"), list.Draw(rt, "other")
		kinds := func(list []int) (kinds []Kind) {
			for _, k := range list {
				kinds = append(kinds, Kind(k))
			}
			return kinds
		}
		same := len(a) == len(b)
		for i := range min(len(a), len(b)) {
			same = same && a[i] == b[i]
		}
		if got := plainSig(kinds(a)) == plainSig(kinds(b)); got != same {
			rt.Fatalf("%v and %v have equal signatures: %v", a, b, got)
		}
	})
}

func TestPackedMatchesEverythingAndBytesOnlyBytes(t *testing.T) {
	float, packed, raw := Of(Float64), Of(Packed), Of(Byte)
	mixed := must(Struct([]int{1, 1}, []int{0, 8}, []*Type{packed, float}))
	for _, c := range []struct {
		what string
		a, b Sig
		want bool
	}{
		{"one type", float.Sig(3), must(Contiguous(3, float)).Sig(1), true},
		{"different counts", float.Sig(3), float.Sig(2), false},
		{"packed bytes sent", packed.Sig(24), float.Sig(3), true},
		{"packed bytes received", float.Sig(3), packed.Sig(24), true},
		{"raw bytes", raw.Sig(24), float.Sig(3), false},
		{"raw and packed bytes", raw.Sig(24), packed.Sig(24), true},
		{"packed bytes among others", mixed.Sig(1), float.Sig(1), false},
		{"nothing sent", float.Sig(0), Of(Int8).Sig(3), true},
		{"a pair and its parts", Of(DoubleInt).Sig(1), must(Struct([]int{1, 1}, []int{0, 50}, []*Type{float, Of(Int32)})).Sig(1), true},
	} {
		if got := c.a.Matches(c.b); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestTheSignatureOfManyElementsIsFast(t *testing.T) {
	n := 1 << 30
	big := must(Contiguous(n, must(Struct([]int{1, 1}, []int{0, 4}, []*Type{Of(Int32), Of(Float32)}))))
	twice := big.Sig(2)
	if twice.Elements != uint64(4*n) || twice == big.Sig(1) {
		t.Errorf("%x, and of one %x", twice, big.Sig(1))
	}
	if got := big.SigPrefix(2, uint64(2*n)); got != big.Sig(1) {
		t.Errorf("the first half has %x, not %x", got, big.Sig(1))
	}
}
