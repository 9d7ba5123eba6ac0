package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// circular is the buffer that MPI-4.0 §3.6.1 measures an implementation by: the
// entries of pending messages, oldest first, each behind the one before it or at
// the start of the memory.
type circular struct {
	size, tail int
	queue      []*pendingEntry
}

type pendingEntry struct {
	off, n    int
	completed bool
}

// send returns the entry for a message of n bytes, or nil if there is no room.
func (m *circular) send(n int) *pendingEntry {
	n += mpi.BsendOverhead
	for len(m.queue) > 0 && m.queue[0].completed {
		m.queue = m.queue[1:]
	}
	for _, off := range []int{m.tail, 0} {
		free := off+n <= m.size
		for _, e := range m.queue {
			free = free && (off+n <= e.off || e.off+e.n <= off)
		}
		if free {
			e := &pendingEntry{off: off, n: n}
			m.queue, m.tail = append(m.queue, e), off+n
			return e
		}
	}
	return nil
}

// bsendTo lets rank 0 send messages in buffered mode and rank 1 receive them when
// it is told to: what is received has left the attached memory.
type bsendTo struct {
	t *testing.T
	c *mpi.Comm
}

const order = 100_000 // the tag of what rank 1 is told: a tag to receive, or -1

func (b bsendTo) receive(tag int) {
	ok(mpi.Send(b.c, []int64{int64(tag)}, 1, order))
	get(mpi.Recv(b.c, make([]byte, 1), 1, order))
}

func (b bsendTo) obey() {
	for {
		tag := []int64{0}
		get(mpi.Recv(b.c, tag, 0, order))
		if tag[0] < 0 {
			return
		}
		st := get(mpi.Probe(b.c, 0, int(tag[0])))
		in := make([]byte, st.Bytes)
		if get(mpi.Recv(b.c, in, 0, int(tag[0]))); differs(in, int(tag[0])) >= 0 {
			b.t.Errorf("message %d has other bytes", tag[0])
		}
		ok(mpi.Send(b.c, []byte{1}, 0, order))
	}
}

// Of eleven units 4, 3 and 3 are taken; the 4 come free. First fit would put 1
// where they were and have no room for 3.5 then; the standard's buffer goes on
// behind the 3.
func TestABufferedSendGoesWhereTheStandardsBufferWouldPutIt(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, s := range bsends {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				b := bsendTo{t, c}
				if c.Rank() == 1 {
					b.obey()
					return
				}
				const unit = 2 * long
				ok(w.BufferAttach(make([]byte, 11*unit)))
				send := func(tag, halves int) {
					if err := s.send(c, pattern(halves*unit/2-mpi.BsendOverhead, tag), 1, tag); err != nil {
						stop(fmt.Errorf("%s of %d halves: %w", s.name, halves, err))
					}
				}
				send(1, 8)
				send(2, 6)
				send(3, 6)
				b.receive(1)
				send(4, 2)
				send(5, 7)
				for tag := 2; tag <= 5; tag++ {
					b.receive(tag)
				}
				ok(mpi.Send(c, []int64{-1}, 1, order))
				get(w.BufferDetach(t.Context()))
			}, opts...)
		}
	})
}

// Messages are sent and received in random order: none is refused that the
// standard's buffer would have room for.
func TestNoBufferedSendIsRefusedThatTheStandardGrants(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			b := bsendTo{t, c}
			if c.Rank() == 1 {
				b.obey()
				return
			}
			rng := rand.New(rand.NewPCG(3, 6))
			size := 12 * long
			model := &circular{size: size}
			ok(w.BufferAttach(make([]byte, size)))
			entries := map[int]*pendingEntry{}
			var open []int
			refused := 0
			for tag := 1; tag < 250; tag++ {
				n := long + rng.IntN(3*long)
				entry := model.send(n)
				err := mpi.Bsend(c, pattern(n, tag), 1, tag)
				switch {
				case err == nil:
					entries[tag] = entry
					open = append(open, tag)
				case entry != nil:
					stop(fmt.Errorf("message %d of %d bytes is refused; the standard's buffer has room at %d: %w", tag, n, entry.off, err))
				default:
					want(t, "a message without room", err, mpi.ErrBuffer)
					refused++
				}
				for len(open) > 0 && (err != nil || rng.IntN(2) == 0) {
					i := rng.IntN(len(open))
					b.receive(open[i])
					if e := entries[open[i]]; e != nil {
						e.completed = true
					}
					open = append(open[:i], open[i+1:]...)
					err = nil
				}
			}
			if refused == 0 {
				t.Error("the memory was never full")
			}
			for _, tag := range open {
				b.receive(tag)
			}
			ok(mpi.Send(c, []int64{-1}, 1, order))
			get(w.BufferDetach(t.Context()))
		})
	})
}
