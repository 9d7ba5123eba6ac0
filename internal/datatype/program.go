package datatype

type codeOp uint8

const (
	codeBlock codeOp = iota + 1 // one block
	codeGrid                    // rows of blocks: both at strides
	codeList                    // blocks at displacements
	codeRows                    // the list at a stride
	codeLoop                    // the child at a stride
	codeSeq                     // children at displacements
)

// program is a typemap without kinds: what a cursor executes.
type program struct {
	root   *code // nil without elements
	lo, hi int   // what one element touches, from the origin

	// overlap is a cache: the state of [Type.Overlaps] and the count that it is for.
	overlap overlapCache
}

// code is a step of a program. Those before codeLoop are leaves, which kernels copy.
// Displacements count from the first byte of the stream.
type code struct {
	op   codeOp
	size int // bytes of data
	// Of codeGrid, codeRows and codeLoop: n2 rows, s2 bytes apart.
	n2, s2 int
	// Of codeGrid: n1 blocks in each row, s1 bytes apart.
	n1, s1 int
	b      int    // bytes of a block, of codeBlock and codeGrid
	list   *parts // of codeList, codeRows and codeSeq
	child  *code  // of codeLoop
	levels int    // how deep codeLoop and codeSeq are nested, with this one
}

// parts is a list of blocks or children.
type parts struct {
	size  int
	disps []int
	b     int     // bytes of every block; 0 if they differ
	ends  []int   // packed bytes up to the end of each; nil if all are alike
	kids  []*code // of codeSeq; one if all are alike
}

// find is the part in which a packed offset lies, and where that begins.
func (l *parts) find(at int) (i, start int) {
	if l.ends == nil {
		each := l.size / len(l.disps)
		i = at / each
		return i, i * each
	}
	i = after(l.ends, at)
	if i > 0 {
		start = l.ends[i-1]
	}
	return i, start
}

// bytes is the length of a part.
func (l *parts) bytes(i int) int {
	switch {
	case l.ends == nil:
		return l.size / len(l.disps)
	case i == 0:
		return l.ends[0]
	}
	return l.ends[i] - l.ends[i-1]
}

func (l *parts) kid(i int) *code {
	if len(l.kids) == 1 {
		return l.kids[0]
	}
	return l.kids[i]
}

func block(b int) *code { return &code{op: codeBlock, size: b, b: b} }

// times is c n times at a stride: by value, so that a cursor needs no memory for it.
// The result refers to c.
func times(c *code, n, stride int) code {
	r := *c
	r.size *= n
	switch {
	case n == 1:
		return r
	case c.op == codeBlock && stride == c.b:
		r.b *= n
		return r
	case c.op == codeBlock:
		return code{op: codeGrid, size: r.size, n2: 1, n1: n, s1: stride, b: c.b}
	case c.op == codeGrid && c.n2 == 1 && stride == c.n1*c.s1:
		r.n1 *= n
		return r
	case c.op == codeGrid && c.n2 == 1, c.op == codeList:
		r.n2, r.s2 = n, stride
		if c.op == codeList {
			r.op = codeRows
		}
		return r
	case (c.op == codeGrid || c.op == codeRows || c.op == codeLoop) && stride == c.n2*c.s2:
		r.n2 *= n
		return r
	}
	return code{op: codeLoop, size: r.size, n2: n, s2: stride, child: c, levels: c.levels + 1}
}
