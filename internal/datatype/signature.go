package datatype

import "math/bits"

// Sig is the signature of some elements: the sequence of their basic kinds
// (MPI-4.0 §5.1), as a number and a hash. Equal sequences have equal signatures,
// however their types were made; different ones nearly always differ. Two words
// travel with a message that is to be checked.
type Sig struct {
	Elements uint64 // basic elements
	Hash     uint64
}

const (
	// prime is 2⁶¹−1: hashes are polynomials modulo it.
	prime = 1<<61 - 1
	// base is where the polynomials are evaluated.
	base = 0x12B9B0A1_3C6EF372
	// onlyPacked marks the signature of elements that are all Packed, which match
	// everything.
	onlyPacked = 1 << 63
)

// sum is a signature that can be continued: the hash of a sequence is that of its
// beginning times base to the power of the rest's length, plus that of the rest.
type sum struct {
	n     int
	hash  uint64
	power uint64 // base to the power of n
	mixed bool   // some element is not Packed
}

func kindSum(k Kind) sum {
	if t := &traits[k]; t.pair {
		return kindSum(t.parts[0]).concat(kindSum(t.parts[1]))
	}
	return sum{1, uint64(k), base, k != Packed}
}

// concat is the signature of s's elements and then those of t.
func (s sum) concat(t sum) sum {
	if s.n == 0 {
		return t
	}
	if t.n == 0 {
		return s
	}
	return sum{s.n + t.n, addMod(mulMod(s.hash, t.power), t.hash), mulMod(s.power, t.power), s.mixed || t.mixed}
}

// times is n times the same elements.
func (s sum) times(n int) (all sum) {
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			all = all.concat(s)
		}
		s = s.concat(s)
	}
	return all
}

func addMod(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b) // below 2¹²²
	return addMod(lo&prime, hi<<3|lo>>61)
}

func (s sum) sig() Sig {
	g := Sig{Elements: uint64(s.n), Hash: s.hash}
	if !s.mixed && s.n > 0 {
		g.Hash |= onlyPacked
	}
	return g
}

// Matches reports whether a message of signature s may be received as g's elements
// (MPI-4.0 §3.3.1): they are the same, or one side is all Packed. A message that is
// shorter than the receive is compared to the signature of the receive's first
// elements, see [Type.SigPrefix].
func (s Sig) Matches(g Sig) bool {
	return s == g || s.Hash&onlyPacked != 0 || g.Hash&onlyPacked != 0 || s.Elements == 0 || g.Elements == 0
}

// Sig is the signature of count elements of the type. A count below 0 is 0; beyond
// what fits in an int, the signature means nothing.
func (t *Type) Sig(count int) Sig {
	if t == nil || t.place.node == nil || count <= 0 {
		return Sig{}
	}
	return t.place.sig.times(count).sig()
}

// PairKind returns the kind of pairs whose parts are the basic elements of the type, one
// after another: a pair's own, or that of a struct of a value and an index.
func (t *Type) PairKind() (Kind, bool) {
	k := Kind(t.pairs.Load()) // pairs with the store below
	if k == 0 {
		k = 1
		for p := FloatInt; p <= TwoDouble; p++ {
			if n := t.Basics(); n > 0 && n%2 == 0 && Of(p).Sig(n/2) == t.Sig(1) {
				k = p
			}
		}
		t.pairs.Store(uint32(k))
	}
	return k, k > 1
}

// SigPrefix is the signature of the first basic elements of count elements of the
// type, as many as elements says; of all of them, if there are not so many.
func (t *Type) SigPrefix(count int, elements uint64) Sig {
	if t == nil || t.place.node == nil || count <= 0 || elements == 0 {
		return Sig{}
	}
	n := t.place.node
	whole := elements / uint64(n.elems)
	if whole >= uint64(count) {
		return t.Sig(count)
	}
	return n.sig.times(int(whole)).concat(n.prefix(int(elements % uint64(n.elems)))).sig()
}

// prefix is the signature of the first basic elements of a node, fewer than it has.
func (n *node) prefix(elements int) (s sum) {
	for elements > 0 {
		switch n.op {
		case opRun, opRuns:
			per := n.kind.basics()
			s = s.concat(kindSum(n.kind).times(elements / per))
			if elements%per != 0 {
				s = s.concat(kindSum(traits[n.kind].parts[0]))
			}
			return s
		case opRep:
			s = s.concat(n.child.sig.times(elements / n.child.elems))
			elements, n = elements%n.child.elems, n.child
		case opSeq:
			i := 0
			if len(n.kids) == 1 {
				s = s.concat(n.kids[0].sig.times(elements / n.kids[0].elems))
				elements, n = elements%n.kids[0].elems, n.kids[0]
				continue
			}
			for ; elements >= n.kids[i].elems; i++ {
				s = s.concat(n.kids[i].sig)
				elements -= n.kids[i].elems
			}
			n = n.kids[i]
		}
	}
	return s
}
