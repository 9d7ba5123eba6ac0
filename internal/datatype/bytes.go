package datatype

import "math/bits"

// Bytes returns the memory of count elements of a committed type if that is one range,
// see [Type.Range], which lies in mem; displacement 0 is at mem[origin]. It is the
// shortest way to messages that are not packed. Where it returns false, Span, Range and
// Cursor.Reset say more.
func (t *Type) Bytes(count int, mem []byte, origin int) (b []byte, ok bool) {
	p := t.prog.Load()
	if p == nil || p.root == nil || p.root.op != codeBlock || count <= 0 || count > 1 && t.ub-t.lb != p.root.size {
		return nil, false
	}
	at := origin + t.at // negative, if it is too large
	if uint(origin) > uint(len(mem)) || uint(at) > uint(len(mem)) {
		return nil, false
	}
	over, n := bits.Mul64(uint64(count), uint64(p.root.size))
	if over != 0 || n > uint64(len(mem)-at) {
		return nil, false
	}
	end := at + int(n)
	return mem[at:end:end], true
}
