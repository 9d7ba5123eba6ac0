package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// item is a receive or a message in the model.
type item struct {
	e        Entry
	ctx      uint32
	src, tag int32
	id       uint32
}

// model is what Table has to be: two lists in order, searched from the front.
type model struct{ posted, unexpected []item }

func agrees(recv, msg item) bool {
	return recv.ctx == msg.ctx &&
		(recv.src == AnySource || recv.src == msg.src) &&
		(recv.tag == AnyTag || recv.tag == msg.tag)
}

func (m *model) arrive(msg item) int {
	return slices.IndexFunc(m.posted, func(r item) bool { return agrees(r, msg) })
}

func (m *model) wanted(recv item) int {
	return slices.IndexFunc(m.unexpected, func(u item) bool { return agrees(recv, u) })
}

func take(list *[]item, i int) item {
	it := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return it
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// pair is a table and the model that it is held against.
type pair struct {
	t      Table
	m      model
	nextID uint32
	gone   []Entry // entries of either queue that have left it
	goneUn []Entry
}

func (p *pair) id() uint32 { p.nextID++; return p.nextID }

func (p *pair) same(f fataler, what string, id uint32, ok bool, list *[]item, i int, gone *[]Entry) {
	f.Helper()
	if ok != (i >= 0) {
		f.Fatalf("%s: got %d, %v; model index %d", what, id, ok, i)
	}
	if !ok {
		return
	}
	if want := (*list)[i].id; id != want {
		f.Fatalf("%s: got id %d, want %d", what, id, want)
	}
	if gone != nil {
		*gone = append(*gone, take(list, i).e)
	}
}

func (p *pair) post(f fataler, ctx uint32, src, tag int32) {
	it := item{ctx: ctx, src: src, tag: tag, id: p.id()}
	it.e = p.t.Post(ctx, src, tag, it.id)
	p.fresh(f, it.e, p.m.posted)
	p.m.posted = append(p.m.posted, it)
}

func (p *pair) addUnexpected(f fataler, ctx uint32, src, tag int32) {
	it := item{ctx: ctx, src: src, tag: tag, id: p.id()}
	it.e = p.t.AddUnexpected(ctx, src, tag, it.id)
	p.fresh(f, it.e, p.m.unexpected)
	p.m.unexpected = append(p.m.unexpected, it)
}

func (p *pair) fresh(f fataler, e Entry, list []item) {
	f.Helper()
	if e == 0 || slices.ContainsFunc(list, func(it item) bool { return it.e == e }) {
		f.Fatalf("Entry %#x is zero or already in use", e)
	}
}

func (p *pair) arrive(f fataler, ctx uint32, src, tag int32) {
	f.Helper()
	id, ok := p.t.Arrive(ctx, src, tag)
	p.same(f, "Arrive", id, ok, &p.m.posted, p.m.arrive(item{ctx: ctx, src: src, tag: tag}), &p.gone)
}

func (p *pair) peek(f fataler, ctx uint32, src, tag int32) {
	f.Helper()
	id, ok := p.t.PeekUnexpected(ctx, src, tag)
	p.same(f, "PeekUnexpected", id, ok, &p.m.unexpected, p.m.wanted(item{ctx: ctx, src: src, tag: tag}), nil)
}

func (p *pair) takeUnexpected(f fataler, ctx uint32, src, tag int32) {
	f.Helper()
	id, ok := p.t.TakeUnexpected(ctx, src, tag)
	p.same(f, "TakeUnexpected", id, ok, &p.m.unexpected, p.m.wanted(item{ctx: ctx, src: src, tag: tag}), &p.goneUn)
}

func (p *pair) withdraw(f fataler, i int) {
	f.Helper()
	id, ok := p.t.Withdraw(p.m.posted[i].e)
	p.same(f, "Withdraw", id, ok, &p.m.posted, i, &p.gone)
}

func (p *pair) drop(f fataler, i int) {
	f.Helper()
	id, ok := p.t.DropUnexpected(p.m.unexpected[i].e)
	p.same(f, "DropUnexpected", id, ok, &p.m.unexpected, i, &p.goneUn)
}

func (p *pair) check(f fataler) {
	f.Helper()
	if p.t.Posted() != len(p.m.posted) || p.t.Unexpected() != len(p.m.unexpected) {
		f.Fatalf("lengths %d, %d; want %d, %d", p.t.Posted(), p.t.Unexpected(), len(p.m.posted), len(p.m.unexpected))
	}
	if err := p.t.check(); err != nil {
		f.Fatalf("broken: %v", err)
	}
	for _, side := range []struct {
		name string
		each func(func(Entry, uint32, int32, int32, uint32) bool)
		want []item
	}{{"EachPosted", p.t.EachPosted, p.m.posted}, {"EachUnexpected", p.t.EachUnexpected, p.m.unexpected}} {
		var got []item
		side.each(func(e Entry, ctx uint32, src, tag int32, id uint32) bool {
			got = append(got, item{e, ctx, src, tag, id})
			return true
		})
		// The ids count up in the order of posting, and of arrival.
		slices.SortFunc(got, func(a, b item) int { return int(a.id) - int(b.id) })
		if !slices.Equal(got, side.want) {
			f.Fatalf("%s: got %v, want %v", side.name, got, side.want)
		}
	}
}

// tableProperty drives a table and the model with the same calls. The domains
// are small, so that keys recur, wildcards compete and stale entries meet
// reused slots; -1 is the wildcard.
func tableProperty(t *rapid.T) {
	ctxs := rapid.Uint32Range(0, 1)
	srcs, anySrcs := rapid.Int32Range(0, 2), rapid.Int32Range(-1, 2)
	tags, anyTags := rapid.Int32Range(0, 3), rapid.Int32Range(-1, 3)
	// with calls f with one of n, or not at all: a fuzzer's actions that skip all
	// the time would be taken for a failure.
	with := func(n int, f func(i int)) {
		if n > 0 {
			f(rapid.IntRange(0, n-1).Draw(t, "i"))
		}
	}
	var p pair
	recv := func(f func(f fataler, ctx uint32, src, tag int32)) func(*rapid.T) {
		return func(t *rapid.T) { f(t, ctxs.Draw(t, "ctx"), anySrcs.Draw(t, "src"), anyTags.Draw(t, "tag")) }
	}
	msg := func(f func(f fataler, ctx uint32, src, tag int32)) func(*rapid.T) {
		return func(t *rapid.T) { f(t, ctxs.Draw(t, "ctx"), srcs.Draw(t, "src"), tags.Draw(t, "tag")) }
	}
	t.Repeat(map[string]func(*rapid.T){
		"":               func(t *rapid.T) { p.check(t) },
		"Post":           recv(p.post),
		"PostAgain":      recv(p.post), // twice as likely, so that queues build up
		"Arrive":         msg(p.arrive),
		"AddUnexpected":  msg(p.addUnexpected),
		"AddAgain":       msg(p.addUnexpected),
		"TakeUnexpected": recv(p.takeUnexpected),
		"PeekUnexpected": recv(p.peek),
		"Withdraw":       func(t *rapid.T) { with(len(p.m.posted), func(i int) { p.withdraw(t, i) }) },
		"DropUnexpected": func(t *rapid.T) { with(len(p.m.unexpected), func(i int) { p.drop(t, i) }) },
		"WithdrawStale": func(t *rapid.T) {
			with(len(p.gone), func(i int) {
				if id, ok := p.t.Withdraw(p.gone[i]); ok {
					t.Fatalf("withdrew %d with a stale Entry", id)
				}
			})
		},
		"DropStale": func(t *rapid.T) {
			with(len(p.goneUn), func(i int) {
				if id, ok := p.t.DropUnexpected(p.goneUn[i]); ok {
					t.Fatalf("dropped %d with a stale Entry", id)
				}
			})
		},
	})
}

func TestTableBehavesAsTheModel(t *testing.T) { rapid.Check(t, tableProperty) }

func FuzzTable(f *testing.F) { f.Fuzz(rapid.MakeFuzz(tableProperty)) }

// The walk goes further than rapid does: hundreds of entries and keys, so that
// storage grows, bins collide and gaps close around one another. It drifts
// between filling and draining.
func TestTableBehavesAsTheModelOnALongWalk(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			srcs, tags := []int32{2, 40, 4}[seed%3], []int32{3, 50, 1 << 20}[seed%3]
			var p pair
			any := func(v int32) int32 {
				if r.IntN(4) == 0 {
					return -1
				}
				return v
			}
			for step := range 20000 {
				ctx, src, tag := r.Uint32N(3), r.Int32N(srcs), r.Int32N(tags)*int32(1+1023*(seed&1))
				fill := step/2000%2 == 0
				if n := len(p.m.posted); n > 0 && r.IntN(2) == 0 { // a key in use
					it := p.m.posted[r.IntN(n)]
					ctx, src, tag = it.ctx, max(0, it.src), max(0, it.tag)
				} else if n := len(p.m.unexpected); n > 0 && r.IntN(2) == 0 {
					it := p.m.unexpected[r.IntN(n)]
					ctx, src, tag = it.ctx, it.src, it.tag
				}
				switch op := r.IntN(10); {
				case op < 2 || fill && op < 5:
					if r.IntN(2) == 0 {
						p.post(t, ctx, any(src), any(tag))
					} else {
						p.addUnexpected(t, ctx, src, tag)
					}
				case op < 6:
					p.arrive(t, ctx, src, tag)
				case op < 7:
					p.peek(t, ctx, any(src), any(tag))
				case op < 8 && len(p.m.posted) > 0:
					p.withdraw(t, r.IntN(len(p.m.posted)))
				case op < 9 && len(p.m.unexpected) > 0:
					p.drop(t, r.IntN(len(p.m.unexpected)))
				default:
					p.takeUnexpected(t, ctx, any(src), any(tag))
				}
				if step%64 == 0 {
					p.check(t)
				}
			}
		})
	}
}
