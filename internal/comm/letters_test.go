package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

var someKey = keyOf("test", "some", groupOf(0, 1), nil)

// deliver gives a rank a packet of rank 1, and returns why that rank is down then.
func deliver(in *Instance, key []byte, flags uint64, body []byte) (down error) {
	in.Loop.Exclusive(func() {
		in.Loop.Deliver(1, wire.Letter, flags, key, body)
		down = in.Loop.Conn(1).Down()
	})
	return down
}

// Packets that are no letters, and too many letters, end their sender.
func TestARankThatSendsNoLettersIsEnded(t *testing.T) {
	key := someKey[:]
	for name, c := range map[string]struct {
		key   []byte
		flags uint64
		body  []byte
		many  int
		ended bool
	}{
		"a letter":                  {key, wire.LetterLast, []byte{1}, 1, false},
		"an empty letter":           {key, wire.LetterLast, nil, 1, false},
		"a piece":                   {key, 0, []byte{1}, 1, false},
		"a reason":                  {key, wire.LetterOff, wire.MakeLetterReason(1, 0, "no"), 1, false},
		"a short key":               {key[:31], wire.LetterLast, nil, 1, true},
		"a long key":                {append(key[:32:32], 0), wire.LetterLast, nil, 1, true},
		"an empty piece":            {key, 0, nil, 1, true},
		"flags that are none":       {key, 4, []byte{1}, 1, true},
		"both flags":                {key, 3, wire.MakeLetterReason(1, 0, "no"), 1, true},
		"a reason that is none":     {key, wire.LetterOff, []byte{1}, 1, true},
		"ten thousand meetings":     {key, wire.LetterLast, make([]byte, 8), 30_000, false},
		"too many letters":          {key, wire.LetterLast, make([]byte, 8), 40_000, true},
		"too many empty letters":    {key, wire.LetterLast, nil, 40_000, true},
		"a letter without an end":   {key, 0, make([]byte, 8<<10), 1200, true},
		"letters that are too long": {key, wire.LetterLast, make([]byte, 8<<10), 1200, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := engines(t, 2)[0]
			var down error
			for range c.many {
				down = cmpError(down, deliver(in, c.key, c.flags, c.body))
			}
			if ended := errors.Is(down, fabric.ErrPeerDown); ended != c.ended {
				t.Errorf("the sender has ended: %t, with %v", ended, down)
			}
			in.Loop.Exclusive(func() {
				sound(t, in.letters)
				if c.ended && len(in.letters.boxes) != 0 {
					t.Errorf("%d boxes are left", len(in.letters.boxes))
				}
			})
		})
	}
}

func cmpError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Keys of as many senders as there may be are kept within the bound, too.
func TestEachLetterCountsWhateverItsKey(t *testing.T) {
	in := engines(t, 2)[0]
	var down error
	sent := 0
	for ; down == nil && sent < 100_000; sent++ {
		key := keyOf("test", fmt.Sprint(sent), groupOf(0, 1), nil)
		down = deliver(in, key[:], wire.LetterLast, nil)
	}
	if down == nil || sent < 30_000 {
		t.Errorf("%d letters: %v", sent, down)
	}
}

// sound checks that what is kept is counted, and that no box is empty. For the owner.
func sound(t *testing.T, l *letters) {
	t.Helper()
	kept := map[fabric.Peer]int{}
	for key, b := range l.boxes {
		if len(b.from) == 0 && b.meeting == nil || b.key != key {
			t.Errorf("a box holds nothing")
		}
		for p, i := range b.from {
			if len(i.whole)+len(i.part)+len(i.waiting) == 0 || len(i.whole) > 0 && len(i.waiting) > 0 {
				t.Errorf("of rank %d %d letters are here, and %d are waited for", p, len(i.whole), len(i.waiting))
			}
			for _, letter := range i.whole {
				kept[p] += letterCost + len(letter)
			}
			if i.part != nil {
				kept[p] += letterCost + len(i.part)
			}
		}
	}
	for p := range max(len(kept), len(l.kept), l.size) {
		if p := fabric.Peer(p); kept[p] != l.kept[p] || kept[p] > l.mostKept() {
			t.Errorf("%d bytes of rank %d are kept, and %d count", kept[p], p, l.kept[p])
		}
	}
	if len(l.spent.keys) > mostSpent || len(l.spent.why) > len(l.spent.keys) {
		t.Errorf("%d keys are spent, of %d", len(l.spent.why), len(l.spent.keys))
	}
}

// A letter comes whole however many packets it takes, before it is asked for or after,
// and in its order.
func TestLettersComeWholeAndInOrder(t *testing.T) {
	for _, early := range []bool{false, true} {
		t.Run(fmt.Sprint(early), func(t *testing.T) {
			ranks := engines(t, 2)
			sizes := []int{0, 1, 8, 100_000, 3, 1 << 20}
			content := func(n int) []byte { return bytes.Repeat([]byte{byte(n), byte(n >> 8), 7}, n)[:n] }
			send := func() {
				ranks[1].Loop.Exclusive(func() {
					for _, n := range sizes {
						ranks[1].letters.send(0, someKey, content(n))
					}
				})
			}
			if early {
				send()
				last := sizes[len(sizes)-1]
				if err := ranks[0].Loop.WaitFor(expiry.Expiry{}, keeps{ranks[0].letters, last}); err != nil {
					t.Fatal(err)
				}
			}
			var got [][]byte
			ended := make(chan struct{})
			ranks[0].Loop.Exclusive(func() {
				for _, n := range sizes {
					b := make([]byte, n+1)
					ranks[0].letters.receive(1, someKey, b, [3]uintptr{}, func(r *progress.Request, err error) {
						if err != nil {
							t.Error(err)
						}
						got = append(got, b[:r.Result.Bytes])
						if len(got) == len(sizes) {
							close(ended)
						}
					})
				}
			})
			if !early {
				send()
			}
			<-ended
			for i, n := range sizes {
				if !bytes.Equal(got[i], content(n)) {
					t.Errorf("letter %d has %d bytes, want %d, or others", i, len(got[i]), n)
				}
			}
			nothingLeft(t, ranks)
		})
	}
}

// keeps is the condition that a whole letter of rank 1 of so many bytes is here.
type keeps struct {
	*letters
	bytes int
}

func (l keeps) Ready() (bool, error) {
	b := l.boxes[someKey]
	return b != nil && b.from[1] != nil && slices.ContainsFunc(b.from[1].whole, func(b []byte) bool { return len(b) == l.bytes }), nil
}

// A letter of a rank that is not in the meeting ends that rank.
func TestALetterToAMeetingOfOthersEndsItsSender(t *testing.T) {
	in := engines(t, 3)[0]
	key := keyOf("meeting", "x", groupOf(0, 2), nil)
	ctx, cancel := context.WithCancel(t.Context())
	var down error
	met := make(chan error)
	go func() {
		_, err := in.Meet(ctx, Meeting{Key: "x", Own: groupOf(0, 2)})
		met <- err
	}()
	if err := in.Loop.WaitFor(expiry.Expiry{}, begun{in.letters, key}); err != nil {
		t.Fatal(err)
	}
	if down = deliver(in, key[:], wire.LetterOff, wire.MakeLetterReason(0, 0, "no")); down == nil {
		t.Error("the sender goes on")
	}
	cancel()
	if err := <-met; !errors.Is(err, context.Canceled) {
		t.Errorf("the meeting ends with %v", err)
	}
	// Before the meeting has begun the sender can't be told from a member.
	in = engines(t, 3)[0]
	if err := deliver(in, key[:], wire.LetterOff, wire.MakeLetterReason(0, 0, "no")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := in.Meet(ctx, Meeting{Key: "x", Own: groupOf(0, 2)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a rank of no part has broken the meeting off: %v", err)
	}
}

// begun is the condition that a meeting is under way.
type begun struct {
	*letters
	key letterKey
}

func (l begun) Ready() (bool, error) {
	return l.boxes[l.key] != nil && l.boxes[l.key].meeting != nil, nil
}

// Letters for a meeting that was broken off are dropped, and only so many keys are
// remembered.
func TestLettersForAMeetingThatIsOverAreDropped(t *testing.T) {
	in := engines(t, 2)[0]
	for n := range mostSpent + 10 {
		key := keyOf("test", fmt.Sprint(n), groupOf(0, 1), nil)
		for _, p := range []struct {
			flags uint64
			body  []byte
		}{{wire.LetterLast, []byte{1}}, {0, []byte{1}}, {wire.LetterOff, wire.MakeLetterReason(0, 0, "no")}, {wire.LetterLast, []byte{1}}} {
			if err := deliver(in, key[:], p.flags, p.body); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.Loop.Exclusive(func() {
		sound(t, in.letters)
		if len(in.letters.boxes) != 0 || len(in.letters.spent.why) != mostSpent {
			t.Errorf("%d boxes are left, %d keys are remembered", len(in.letters.boxes), len(in.letters.spent.why))
		}
	})
}

// A communicator that a rank has, and another one has not, since that has broken the
// meeting off at the last moment: the collective calls on it fail. Another meeting with
// the same key leaves it alone.
func TestAMeetingThatIsBrokenOffLateEndsCalls(t *testing.T) {
	ranks := engines(t, 2)
	noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
		c, err := in.Meet(ctx, Meeting{Key: "x"})
		if err != nil {
			return err
		}
		kept, err := in.Meet(ctx, Meeting{Key: "x"})
		if err != nil {
			return err
		}
		if in.World.Rank == 1 {
			in.Loop.Exclusive(func() {
				k := &creation{in: in, id: c.ID}
				k.meet(keyOf("meeting", "x", in.listed(nil), nil), in.listed(nil), nil).tell(errors.New("no"))
			})
			return kept.Barrier(ctx, false)
		}
		if err := in.Loop.WaitFor(expiry.Of(ctx), heardOf{in: in, name: "x"}); err != nil {
			return err
		}
		var told *cause.CallError
		o := Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8}
		ended, cancel := context.WithCancel(ctx)
		cancel() // so that nothing hangs if it is not known
		if err := c.Collective(ended, coll.Allgather, all(0, 2, 1), &o); !errors.As(err, &told) || told.Rank != 1 {
			return fmt.Errorf("a call gives %w", err)
		}
		return kept.Barrier(ctx, false)
	}))
}

// The letter of a receive that was given up is dropped, and goes to no later one.
func TestALetterThatNobodyWantsIsDropped(t *testing.T) {
	in := engines(t, 2)[0]
	var got []byte
	in.Loop.Exclusive(func() {
		into := make([]byte, 1)
		given := in.letters.receive(1, someKey, nil, [3]uintptr{}, func(*progress.Request, error) {})
		in.letters.receive(1, someKey, into, [3]uintptr{}, func(_ *progress.Request, err error) {
			if err == nil {
				got = append(got, into...)
			}
		})
		given.abandon(errors.New("no"))
		in.letters.drop(1, someKey)
		in.letters.receive(1, someKey, into, [3]uintptr{}, func(_ *progress.Request, err error) {
			if err == nil {
				got = append(got, into...)
			}
		})
	})
	for i := range byte(4) {
		if err := deliver(in, someKey[:], wire.LetterLast, []byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, []byte{1, 3}) {
		t.Errorf("letters %v are received, want 1 and 3", got)
	}
	in.Loop.Exclusive(func() { sound(t, in.letters) })
}
