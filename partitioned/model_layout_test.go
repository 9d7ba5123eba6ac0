package partitioned

// modelLayout has the message of a side in blocks with gaps between them, the first
// block in front or at the end. In the middle of a call other ranks and goroutines go
// on.
type modelLayout struct {
	m      *modelSide
	places []int // of the message's bytes
	gaps   []int // where none is
}

// drawLayout gives half of the sides of some worlds a layout.
func (w *modelWorld) drawLayout(m *modelSide) *modelSide {
	if !w.layouts || w.rng.IntN(2) == 0 {
		return m
	}
	block := 1 + w.rng.IntN(1+m.size/2)
	stride, backwards := block+w.rng.IntN(9), w.rng.IntN(2) == 0
	blocks := (m.size + block - 1) / block
	m.lay = &modelLayout{m: m}
	used := make([]bool, blocks*stride)
	for at := range m.size {
		b := at / block
		if backwards {
			b = blocks - 1 - b
		}
		p := b*stride + at%block
		m.lay.places = append(m.lay.places, p)
		used[p] = true
	}
	for p := range used {
		if !used[p] {
			m.lay.gaps = append(m.lay.gaps, p)
		}
	}
	return m
}

func (l *modelLayout) Pack(dst []byte, at uint64) {
	l.m.w.packs++
	l.inHalves(len(dst), func(i int) { dst[i] = *l.m.at(int(at) + i) })
}

func (l *modelLayout) Unpack(src []byte, at uint64) {
	l.m.w.unpacks++
	l.inHalves(len(src), func(i int) { *l.m.at(int(at) + i) = src[i] })
}

// inHalves copies n bytes, and lets others go on after some of them. The memory is
// the engine's all the time.
func (l *modelLayout) inHalves(n int, copyByte func(i int)) {
	w := l.m.w
	half := w.own.IntN(n + 1)
	for i := range n {
		if i == half {
			about := []*modelRank{l.m.r}
			if l.m.peer() != ProcNull {
				about = append(about, w.ranks[l.m.peer()])
			}
			w.meanwhile(2, about...)
		}
		if !l.m.s.active {
			w.fail("%v: its layout is used in round %d, which has ended", l.m, l.m.round)
		}
		copyByte(i)
	}
}

// at is where byte i of the message lies.
func (m *modelSide) at(i int) *byte {
	if m.lay == nil {
		return &m.buf[i]
	}
	return &m.buf[m.lay.places[i]]
}

// data is the side's memory as the engine takes it.
func (m *modelSide) data() *Data {
	if m.lay == nil {
		return &Data{Bytes: m.buf}
	}
	return &Data{Layout: m.lay, Size: uint64(m.size)}
}
