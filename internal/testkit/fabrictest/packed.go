package fabrictest

// sendOnce is Send, and for every other body SendPacked where that is offered:
// one contract has both, so a case about Send is one about SendPacked as well.
func (n *node) sendOnce(to int, kind uint8, imm uint64, hdr, body []byte) error {
	n.sendings++
	if !n.d.Caps().Pack || n.sendings%2 == 0 || len(body) == 0 {
		return n.eps[to].Send(kind, imm, hdr, body)
	}
	// What is sent begins inside of the body that packs it.
	const before = 5
	b := packed{bytes: append(make([]byte, before), body...)}
	err := n.eps[to].SendPacked(kind, imm, hdr, &b, before, len(body))
	if err != nil && b.used {
		n.complain("rank %d: SendPacked returned %v, and has packed the body", n.rank, err)
	}
	b.bytes = nil
	return err
}

type packed struct {
	bytes []byte
	used  bool
}

func (b *packed) Pack(dst []byte, at uint64) {
	b.used = true
	copy(dst, b.bytes[at:])
}
