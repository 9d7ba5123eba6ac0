package comm

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// blocked has a goroutine of each rank wait for a message of the next one, of the first so
// many, until the test ends.
func blocked(t *testing.T, all []*Instance, many int) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, many)
	for r := range many {
		go func() {
			all[r].P2P.Recv(ctx, (r+1)%len(all), 0, 5, []byte{0})
			ended <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		cancel()
		for range many {
			<-ended
		}
	})
	for r := range many {
		for len(all[r].State().Goroutines) == 0 {
			runtime.Gosched()
		}
	}
}

func wantSentences(t *testing.T, j *diagnose.Job, ranks int, parts ...string) {
	t.Helper()
	text := strings.Join(j.Sentences(), "\n")
	if len(j.Ranks) != ranks || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
		t.Errorf("%d ranks have told, want %d that say %q:\n%s", len(j.Ranks), ranks, parts, text)
	}
}

func TestARankAsksThoseThatItWaitsForDirectlyOrNot(t *testing.T) {
	all := engines(t, 4)
	blocked(t, all, 3)
	wantSentences(t, all[0].Job(), 4, "rank 2 waits in a receive from rank 3", "rank 3 is blocked in no call")
	wantSentences(t, all[3].Job(), 1)
}

func TestARingIsConfirmed(t *testing.T) {
	all := configured(t, 3, func(cfg *Config) { cfg.Named = func(uint32) string { return "rows" } })
	blocked(t, all, 3)
	for _, in := range all {
		wantSentences(t, in.Job(), 3, `ranks 0 to 2 wait to receive from one another, and none of them sends: deadlock (rank 0: a receive from rank 1, tag 5, communicator "rows"`)
	}
}

func TestRanksThatDoNotReplyAreSilent(t *testing.T) {
	all := configured(t, 3, func(cfg *Config) { cfg.Progress.NoThread = cfg.Rank == 1 })
	blocked(t, all, 1)
	wantSentences(t, all[0].Job(), 1, "rank 1: "+noReply)
	all[0].Fail(1)
	h := all[0].P2P.Irecv(t.Context(), 2, 0, 5, []byte{0})
	defer progress.Cancel(h)
	replies := all[0].questions.ask([]int{1, 2, 2, -1, 3, 0}, wire.AskReply, patience)
	if len(replies) != 2 || !strings.Contains(replies[1].why, "has failed") || replies[2].why != "" {
		t.Errorf("%+v", replies)
	}
}

// A receive needs no rank that is sending what this one has not heard of yet.
func TestAMessageThatIsHeldBackIsUnderWay(t *testing.T) {
	all := configured(t, 2, func(cfg *Config) {
		cfg.Limits = pt2pt.Limits{PeerMessages: 1, Messages: 8, Bytes: 1 << 20, PeerBytes: 1 << 20}
	})
	h := all[0].P2P.Irecv(t.Context(), 1, 0, 99, []byte{0})
	defer progress.Cancel(h)
	needs := func() []int { return all[0].Settled().Waits[0].Needs }
	if got := needs(); !slices.Equal(got, []int{1}) {
		t.Errorf("it needs %v", got)
	}
	var sends []progress.Handle
	held := func(p pt2pt.Pending) bool { return strings.HasPrefix(p.State, "held back") }
	for !slices.ContainsFunc(all[1].P2P.Pending(), held) {
		sends = append(sends, all[1].P2P.Isend(t.Context(), pt2pt.Standard, 0, 0, 1, []byte{1}))
	}
	if got := needs(); got != nil || !slices.Equal(all[0].State().Waits[0].Needs, []int{1}) {
		t.Errorf("while messages are held back it needs %v", got)
	}
	for i := range sends {
		all[0].P2P.Recv(t.Context(), 1, 0, 1, []byte{0})
		progress.WaitResult(&sends[i])
	}
	if got := needs(); !slices.Equal(got, []int{1}) {
		t.Errorf("behind them it needs %v", got)
	}
}

// A reply is as long as several packets, and not longer than is permitted.
func TestALongStateIsCut(t *testing.T) {
	long := diagnose.Rank{Rank: 1, Goroutines: []diagnose.Goroutine{{Need: 1000}}, Comms: []diagnose.Comm{{Members: make([]int, 1<<20)}}}
	for range 1000 {
		long.Waits = append(long.Waits, diagnose.Wait{Goroutine: 1, Place: strings.Repeat("x", 2000)})
	}
	b := encode(long)
	var got diagnose.Rank
	if err := json.Unmarshal(b, &got); err != nil || len(b) > mostReply || len(b) < mostReply/4 || got.Goroutines != nil || len(got.Comms) != 1 || got.Rank != 1 {
		t.Errorf("%v: %d bytes, %d waits", err, len(b), len(got.Waits))
	}
	all := engines(t, 2)
	all[0].Loop.Exclusive(func() {
		k := &all[0].questions
		k.open[1] = &question{replies: map[fabric.Peer]*reply{1: {}}, missing: 1, done: make(chan struct{})}
		for len(b) > 1000 {
			k.Deliver(1, wire.Tell, wire.MakeTell(1, wire.Sending), nil, b[:1000])
			b = b[1000:]
		}
		k.Deliver(1, wire.Tell, wire.MakeTell(1, wire.TellLast), nil, b)
		k.Deliver(1, wire.Tell, wire.MakeTell(1, wire.TellLast), nil, b) // late
		if t1 := k.open[1].replies[1]; json.Unmarshal(t1.state, &got) != nil || t1.said != wire.TellLast || k.open[1].missing != 0 {
			t.Errorf("%d bytes, %+v", len(t1.state), k.open[1])
		}
		delete(k.open, 1)
	})
}

func TestARankThatSendsNoQuestionsIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		kind      uint8
		imm       uint64
		hdr, body []byte
		ended     bool
	}{
		"a question":                {wire.Ask, wire.MakeAsk(7, wire.AskState), nil, nil, false},
		"a question of no kind":     {wire.Ask, 3, nil, nil, true},
		"a question with a header":  {wire.Ask, 0, []byte{1}, nil, true},
		"a question with a body":    {wire.Ask, 0, nil, []byte{1}, true},
		"a late reply":              {wire.Tell, wire.MakeTell(6, wire.TellLast), nil, []byte{1}, false},
		"a reply with other flags":  {wire.Tell, 8, nil, nil, true},
		"a reply with a header":     {wire.Tell, wire.MakeTell(6, wire.TellLast), []byte{1}, nil, true},
		"a reply that is too long":  {wire.Tell, wire.MakeTell(5, 0), nil, make([]byte, mostReply+1), true},
		"as long as a reply can be": {wire.Tell, wire.MakeTell(5, 0), nil, make([]byte, mostReply), false},
	} {
		in := engines(t, 2)[0]
		in.Loop.Exclusive(func() {
			in.questions.open[5] = &question{replies: map[fabric.Peer]*reply{1: {}}, missing: 1, done: make(chan struct{})}
			in.Loop.Deliver(1, c.kind, c.imm, c.hdr, c.body)
			if ended := in.Loop.Conn(1).Down() != nil; ended != c.ended {
				t.Errorf("%s has ended its sender: %t", name, ended)
			}
			delete(in.questions.open, 5)
		})
	}
}

// Questions that have this rank wait for others, and never end, take up little.
func TestRepliesUnderWayAreBounded(t *testing.T) {
	in := configured(t, 3, func(cfg *Config) { cfg.Progress.NoThread = cfg.Rank == 2 })[0]
	h := in.P2P.Irecv(t.Context(), 2, 0, 5, []byte{0})
	defer progress.Cancel(h)
	in.Loop.Exclusive(func() {
		for number := range uint64(3 * mostSettling) {
			in.Loop.Deliver(1, wire.Ask, wire.MakeAsk(number, wire.AskSettled), nil, nil)
		}
		if in.questions.settling != mostSettling {
			t.Errorf("%d replies are under way", in.questions.settling)
		}
	})
	for left := 1; left > 0; {
		in.Loop.Exclusive(func() { left = in.questions.settling })
	}
}
