package rma

import (
	"math/rand/v2"

	ops "github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// A program is steps. In each, ranks use some windows at once, each window in epochs of
// one scheme; before and behind it all ranks meet, and the memory is compared with what
// the operations may have left.

// scheme is how the epochs of a window in a step come about.
type scheme int

const (
	byFence scheme = iota
	byPost
	byLockAll
	byShared // locks of all targets, shared
	bySessions
	schemes
)

// role is what the operations on a block of a part are.
type role int

const (
	bytesOfAnybody    role = iota // Puts and Gets of all ranks, whose bytes are any of those
	elementsOfAnybody             // accumulates of all ranks: some order explains them
	ofOne                         // of one rank, all kinds of operations, each after its flush
	counted                       // counted up by Get and Put with the exclusive lock
	roles
)

// modelBlock is a range of a part in a step.
type modelBlock struct {
	win, rank, at, n int
	role             role
	kind             ops.Kind
	codes            []ops.Code
	origin           int
	first            []byte // which its rank stores before, or nil
	room             int    // operations that it may still have
}

// modelOp is an operation. The rank that calls it fills in the rest.
type modelOp struct {
	b       *modelBlock
	x       Transfer
	place   int         // where it begins in the part
	value   []byte      // what Src was
	typed   *modelTyped // of elements that lie apart, else nil
	indices map[int]int // see index
	named   bool
	waits   bool // for the request at once
	origin  int
	round   int
	flushes int // remote ones before it
	from    int64
	to      int64
	got     []byte // what Old was when it had to be there
}

type itemKind int

const (
	itemOp itemKind = iota
	itemFlush
	itemFlushAll
	itemSync
	itemSession
	itemCount
	itemPeek
)

// item is what a rank does next.
type item struct {
	kind      itemKind
	win       int
	target    int
	local     bool
	op        *modelOp
	block     *modelBlock
	exclusive bool
	targets   []int // of a session; nil: LockAll
	items     []item
}

type modelStep struct {
	wins   []int
	use    map[int]*usage
	blocks []*modelBlock
	items  [][][]item // by rank and round
}

// usage is how a step uses a window.
type usage struct {
	scheme  scheme
	rounds  int
	reaches [][]bool // by origin and target, of byPost
	tests   bool     // Test instead of Wait
	trust   bool     // the posts come before all starts: NoCheck
}

type modelPlan struct {
	n, eager int
	ends     uint64 // seed of the contexts that end, 0 for none
	separate bool   // windows have separate memory: no accesses conflict
	ways     [4][4]way
	kept     int // types that peers keep
	longest  int // code of types that is sent
	wins     []modelWindow
	steps    []*modelStep
}

type modelWindow struct {
	dynamic, shared bool
	sizes           []int
}

type planner struct {
	r *rand.Rand
	p *modelPlan
}

// drawModel draws a program.
func drawModel(seed uint64) *modelPlan { return drawProgram(seed, false) }

func drawProgram(seed uint64, separate bool) *modelPlan {
	r := rand.New(rand.NewPCG(seed, 0x313))
	p := &modelPlan{separate: separate, n: 2 + r.IntN(3), eager: []int{64, 64, 100, 1000, 1 << 16}[r.IntN(5)]}
	p.kept, p.longest = []int{1, 2, maxTypes}[r.IntN(3)], []int{0, 30, wire.MaxType, wire.MaxType}[r.IntN(4)]
	alike, all := r.IntN(3) == 0, way(r.IntN(int(ways)))
	for a := range p.n {
		for b := range a {
			w := way(r.IntN(int(ways)))
			if alike {
				w = all
			}
			p.ways[a][b], p.ways[b][a] = w, w
		}
	}
	if seed%3 == 0 {
		p.ends = seed
	}
	d := planner{r, p}
	for range 1 + r.IntN(3) {
		w := modelWindow{dynamic: r.IntN(4) == 0}
		w.shared = !separate && alike && all == reached && r.IntN(3) == 0
		w.dynamic = w.dynamic && !w.shared
		for range p.n {
			size := []int{0, 1, 8, 200, 1000, 5000}[r.IntN(6)]
			w.sizes = append(w.sizes, max(0, size-r.IntN(8)))
		}
		p.wins = append(p.wins, w)
	}
	for range 2 + r.IntN(5) {
		p.steps = append(p.steps, d.step())
	}
	return p
}

func (d planner) step() *modelStep {
	s := &modelStep{use: map[int]*usage{}}
	for w := range d.p.wins {
		if d.r.IntN(2) > 0 && (len(s.wins) > 0 || w < len(d.p.wins)-1) {
			continue
		}
		s.wins = append(s.wins, w)
		u := &usage{scheme: scheme(d.r.IntN(int(schemes))), rounds: 1, tests: d.r.IntN(2) == 0, trust: d.r.IntN(4) == 0}
		if u.scheme <= byPost {
			u.rounds += d.r.IntN(3)
		}
		for range d.p.n {
			row := make([]bool, d.p.n)
			for t := range row {
				row[t] = d.r.IntN(3) > 0
			}
			u.reaches = append(u.reaches, row)
		}
		s.use[w] = u
		for rank, size := range d.p.wins[w].sizes {
			d.cut(s, w, rank, size)
		}
	}
	for o := range d.p.n {
		s.items = append(s.items, nil)
		for round := range 3 {
			s.items[o] = append(s.items[o], d.items(s, o, round))
		}
	}
	return s
}

// cut cuts a part into blocks. None lies across its middle, where those of a dynamic
// window have a gap.
func (d planner) cut(s *modelStep, w, rank, size int) {
	half := size / 2 &^ 7
	for at, end := 0, half; ; {
		if d.r.IntN(3) == 0 {
			at += d.r.IntN(9)
		}
		if raceEnabled {
			at = (at + 7) &^ 7
		}
		if at >= end && end == size {
			return
		}
		if at >= end {
			at, end = max(at, half), size
			continue
		}
		n := min(end-at, []int{1 + d.r.IntN(8), 1 + d.r.IntN(64), 1 + d.r.IntN(64), 1 + d.r.IntN(size)}[d.r.IntN(4)])
		b := &modelBlock{win: w, rank: rank, at: at, n: n, role: role(d.r.IntN(int(roles))), origin: d.r.IntN(d.p.n), room: 8}
		if b.role == counted && s.use[w].scheme != bySessions || (raceEnabled || d.p.separate) && b.role == bytesOfAnybody {
			b.role = ofOne
		}
		d.fill(b)
		s.blocks = append(s.blocks, b)
		at = max(b.at+b.n, at+1)
	}
}

// fill settles what a block has.
func (d planner) fill(b *modelBlock) {
	b.kind = ops.Bool + ops.Kind(d.r.IntN(int(ops.Complex128)))
	if b.role == counted {
		b.kind = ops.Uint64
	}
	half := d.p.wins[b.win].sizes[b.rank] / 2 &^ 7
	end := d.p.wins[b.win].sizes[b.rank]
	if b.at < half {
		end = half
	}
	if d.r.IntN(2) == 0 { // Else most are not aligned.
		b.at = min((b.at+7)&^7, end)
	}
	size := b.kind.Size()
	switch b.role {
	case bytesOfAnybody:
		b.n = max(0, min(b.n, end-b.at))
		return
	case elementsOfAnybody:
		b.n = min(b.n, 12*size)
	case counted:
		b.n = 8
	}
	if b.n = max(b.n, size); b.at+b.n > end {
		b.n = max(0, end-b.at)
	}
	b.n = b.n / size * size
	if b.n == 0 {
		b.role = bytesOfAnybody
		return
	}
	b.first = d.elements(b, b.n)
	codes := d.codes(b.kind)
	switch d.r.IntN(3) {
	case 0:
		b.codes, b.room = append(codes, 0), 6
	default:
		b.codes = []ops.Code{codes[d.r.IntN(len(codes))], ops.CodeNoOp}
	}
	if b.role == ofOne {
		b.codes = append(codes, 0)
	}
	if comparesBits(b.kind) != nil && b.codes[len(b.codes)-1] == 0 {
		b.codes = b.codes[:len(b.codes)-1]
	}
}

// codes are those of the operators that a kind has.
func (d planner) codes(k ops.Kind) (all []ops.Code) {
	for c := ops.CodeSum; c <= ops.CodeNoOp; c++ {
		if _, err := c.Op().OnWindow(k); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// elements are n bytes of operands.
func (d planner) elements(b *modelBlock, n int) []byte {
	if d.r.IntN(2) == 0 || b.kind < ops.Float32 {
		return randomElements(d.r, b.kind, n/b.kind.Size())
	}
	e := alignedBytes(n)
	for at := 0; at < n; at += b.kind.Size() {
		copy(e[at:], element(b.kind, d.r.IntN(7)-3))
	}
	return e
}

// items draws what a rank does in a round of a step: those of each block in order,
// mixed with one another.
func (d planner) items(s *modelStep, o, round int) []item {
	var threads [][]item
	sessions := map[int][][]item{} // by window
	for _, b := range s.blocks {
		u := s.use[b.win]
		if round >= u.rounds || u.scheme == byPost && !u.reaches[o][b.rank] || d.r.IntN(4) == 0 {
			continue
		}
		list := d.on(b, o, round, u.scheme > byPost)
		switch {
		case len(list) == 0:
		case u.scheme == bySessions:
			sessions[b.win] = append(sessions[b.win], list)
		default:
			threads = append(threads, list)
		}
	}
	for _, w := range s.wins { // in their order: a map has none
		for _, list := range sessions[w] {
			threads = append(threads, []item{d.session(w, list)})
		}
	}
	return d.mix(threads)
}

// session is items within locks.
func (d planner) session(w int, list []item) item {
	t := list[0].target
	it := item{kind: itemSession, win: w, target: t, targets: []int{t}, items: list, exclusive: d.r.IntN(2) == 0}
	if list[0].kind == itemCount {
		it.exclusive = true
		return it
	}
	if !it.exclusive && d.r.IntN(3) == 0 {
		it.targets = nil
	}
	return it
}

func (d planner) mix(threads [][]item) (all []item) {
	for len(threads) > 0 {
		i := d.r.IntN(len(threads))
		all = append(all, threads[i][0])
		if threads[i] = threads[i][1:]; len(threads[i]) == 0 {
			threads[i] = threads[len(threads)-1]
			threads = threads[:len(threads)-1]
		}
	}
	return all
}
