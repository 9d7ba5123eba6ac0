package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// FuzzLetters feeds a rank letters of another one that keeps to no protocol, while
// calls of its own begin and end. What is kept stays counted and bounded, each call
// ends once, and in the end nothing is left.
func FuzzLetters(f *testing.F) {
	row := func(what, key, flags, n byte) []byte { return []byte{what, key, flags, n} }
	add := func(rows ...[]byte) {
		var all []byte
		for _, r := range rows {
			all = append(all, r...)
		}
		f.Add(all)
	}
	// The draw of a meeting under way, and the vote of its first member.
	add(row(1, 0, 0, 0), row(0, 0, 1, 8), row(0, 0, 1, 8), row(0, 0, 1, 8))
	add(row(0, 0, 1, 8), row(0, 0, 0, 8), row(1, 0, 0, 0), row(0, 0, 1, 3), row(0, 0, 2, 8))
	add(row(2, 1, 0, 8), row(0, 1, 0, 5), row(0, 1, 1, 5), row(3, 1, 0, 0), row(0, 1, 1, 5), row(2, 1, 0, 8), row(4, 1, 0, 0), row(0, 1, 1, 1))
	add(row(0, 2, 1, 8), row(0, 2, 2, 9), row(0, 2, 1, 8), row(1, 2, 0, 0), row(0, 1, 9, 0), row(0, 1, 1, 0))
	add(row(1, 0, 0, 0), row(1, 0, 0, 0), row(5, 0, 0, 0), row(1, 0, 0, 0))
	f.Fuzz(letterSession)
}

// Random sessions, of which most have meetings that go on.
func TestLetterSessions(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 6))
		rows := make([]byte, 4*(1+rng.IntN(60)))
		for i := 0; i < len(rows); i += 4 {
			copy(rows[i:], []byte{byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))})
			if rng.IntN(2) == 0 {
				copy(rows[i:], []byte{0, byte(rng.IntN(2)), 1, 8})
			}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { letterSession(t, rows) })
	}
}

func letterSession(t *testing.T, rows []byte) {
	rows = rows[:min(len(rows), 400)] // each is followed by a look at all
	in := engines(t, 2)[0]
	ctx, cancel := context.WithCancel(t.Context())
	names := []string{"a", "b", "c"}
	var meetings []progress.Handle
	var received []*reception
	asked, ended := 0, 0
	for ; len(rows) >= 4; rows = rows[4:] {
		what, name, flags, n := rows[0]%6, names[rows[1]%3], rows[2]%5, int(rows[3])
		key := keyOf("meeting", name, groupOf(1, 0), nil)
		in.Loop.Exclusive(func() {
			body := make([]byte, n)
			for i := range body {
				body[i] = byte(4 * i)
			}
			switch what {
			case 0:
				in.Loop.Deliver(1, wire.Letter, uint64(flags), key[:], body)
			case 1:
				k := &creation{in: in, made: func(*Comm) {}}
				m := k.meet(key, groupOf(1, 0), nil)
				k.of(m.all)
				k.makeOf(m.all, nil)
				k.part = k.draw
				k.schedule(m)
				meetings = append(meetings, k.x.begin(ctx, [3]uintptr{}))
			case 2, 3:
				if what == 3 && len(received) > 0 {
					received[len(received)-1].abandon(errors.New("no"))
					break
				}
				key[0]++ // no meeting's
				asked++
				received = append(received, in.letters.receive(1, key, body, [3]uintptr{}, func(*progress.Request, error) { ended++ }))
			case 4:
				key[0]++
				in.letters.drop(1, key)
				in.Loop.Deliver(1, wire.Letter, uint64(flags), key[:], body)
			case 5:
				if flags == 0 {
					in.Loop.EndPeer(1, &fabric.Error{Op: "test", Peer: 1, HasPeer: true, Err: fabric.ErrPeerDown})
				}
			}
			sound(t, in.letters)
		})
	}
	cancel()
	for i := range meetings {
		progress.WaitResult(&meetings[i]) // whatever has become of it
	}
	in.Fail(1)
	in.Loop.Exclusive(func() {
		sound(t, in.letters)
		if len(in.letters.boxes) != 0 || asked != ended || in.P2P.Reserved() != 1 {
			t.Errorf("%d boxes are left, of %d calls %d have ended, %d ids are reserved", len(in.letters.boxes), asked, ended, in.P2P.Reserved())
		}
	})
}
