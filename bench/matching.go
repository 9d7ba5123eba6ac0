package bench

import (
	"fmt"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// The method is that of bench/peers/matching.c, which gives the reasons: a
// queue of constant depth has fillers at its head and behind them matchBatch
// measured entries, which are taken from the far end.
const (
	matchBatch = 64
	matchBytes = 8

	tagFiller = 1000000
	tagFilled = 900000
	tagSync   = 900001
	tagGo     = 900002
	tagStop   = 900003
)

// matcher is one rank's side of the matching benchmark. Rank 0 serves, rank 1
// measures.
type matcher struct {
	*job
	peer    int
	buf     []byte
	batch   []mpi.Request
	fillers []mpi.Request
}

func runMatching(j *job) error {
	m := &matcher{
		job:   j,
		peer:  1 - j.c.Rank(),
		buf:   make([]byte, (matchBatch+1)*matchBytes),
		batch: make([]mpi.Request, matchBatch),
	}
	if j.c.Rank() == 1 && j.o.Queue == Posted {
		m.fillers = make([]mpi.Request, 0, j.o.MaxSize)
	}
	if j.c.Rank() == 0 {
		title := osufmt.Title{Name: j.Title, Own: true,
			After: []string{fmt.Sprintf("[ queue: %s ] [ batch: %d ]", j.o.Queue, matchBatch)}}
		if err := j.sink.Title(title); err != nil {
			return err
		}
		sec := osufmt.Section{Datatype: Char.String(), First: "Depth", Columns: []osufmt.Column{osufmt.MatchTime}}
		if err := j.sink.Section(sec); err != nil {
			return err
		}
	}
	depths := j.o.sizes(Char)
	for i, depth := range depths {
		if err := m.depth(depth, i, len(depths)); err != nil {
			return fmt.Errorf("matching at depth %d: %w", depth, err)
		}
	}
	return nil
}

// depth measures one depth and reports it.
func (m *matcher) depth(depth, step, steps int) error {
	if m.c.Rank() == 0 {
		m.progress(depth, step, steps)
	}
	if err := m.c.Barrier(); err != nil {
		return err
	}
	ns := make([]float64, 1)
	if m.c.Rank() == 1 {
		var err error
		if ns[0], err = m.measure(depth); err != nil {
			return err
		}
		return mpi.Send(m.c, ns, 0, tagStop)
	}
	if err := m.serve(depth); err != nil {
		return err
	}
	if _, err := mpi.Recv(m.c, ns, 1, tagStop); err != nil {
		return err
	}
	return m.sink.Row(osufmt.Row{Size: depth, Values: ns})
}

func (m *matcher) send(n, tag int) error { return mpi.Send(m.c, m.buf[:n], m.peer, tag) }

func (m *matcher) recv(n, tag int) (int, error) {
	s, err := mpi.Recv(m.c, m.buf[:n], m.peer, tag)
	return s.Tag, err
}

// serve is rank 0's side of a depth.
func (m *matcher) serve(depth int) error {
	unexpected := m.o.Queue == Unexpected
	if unexpected {
		if err := m.sendFillers(depth); err != nil {
			return err
		}
		if err := m.send(0, tagFilled); err != nil {
			return err
		}
	}
	for {
		tag, err := m.recv(0, mpi.AnyTag)
		if err != nil {
			return err
		}
		if tag != tagGo {
			break
		}
		for i := range matchBatch {
			if !unexpected {
				i = matchBatch - 1 - i
			}
			if err := m.send(matchBytes, i); err != nil {
				return err
			}
		}
		if unexpected {
			if err := m.send(0, tagSync); err != nil {
				return err
			}
		}
	}
	if unexpected {
		return nil
	}
	return m.sendFillers(depth)
}

func (m *matcher) sendFillers(depth int) error {
	for i := range depth {
		if err := m.send(matchBytes, tagFiller+i); err != nil {
			return err
		}
	}
	return nil
}

// measure is rank 1's side of a depth. It returns nanoseconds for each message.
func (m *matcher) measure(depth int) (float64, error) {
	one := m.posted
	if m.o.Queue == Unexpected {
		one = m.unexpected
		if _, err := m.recv(0, tagFilled); err != nil {
			return 0, err
		}
	} else if err := m.post(depth); err != nil {
		return 0, err
	}
	for range m.o.Warmup {
		if _, err := one(); err != nil {
			return 0, err
		}
	}
	var clocked time.Duration
	batches, begun := 0, now()
	for m.more(batches, begun) {
		d, err := one()
		if err != nil {
			return 0, err
		}
		clocked += d
		batches++
	}
	if err := m.send(0, tagStop); err != nil {
		return 0, err
	}
	return float64(clocked) / float64(batches*matchBatch), m.drain(depth)
}

// more reports whether another batch is to be measured.
func (m *matcher) more(batches int, begun time.Duration) bool {
	if m.o.Batches {
		return batches < m.o.Iterations
	}
	return batches < 3 || now()-begun < m.o.Budget
}

// posted times a batch that is taken from the queue of posted receives.
func (m *matcher) posted() (time.Duration, error) {
	var err error
	for i := range m.batch {
		at := i * matchBytes
		if m.batch[i], err = mpi.Irecv(m.c, m.buf[at:at+matchBytes], m.peer, i); err != nil {
			return 0, err
		}
	}
	start := now()
	if err := m.send(0, tagGo); err != nil {
		return 0, err
	}
	if err := mpi.Waitall(m.batch, nil); err != nil {
		return 0, err
	}
	return now() - start, nil
}

// unexpected times a batch that is taken from the queue of unexpected messages.
// The sync message arrives last, so all others have arrived by then.
func (m *matcher) unexpected() (time.Duration, error) {
	if err := m.send(0, tagGo); err != nil {
		return 0, err
	}
	if _, err := m.recv(0, tagSync); err != nil {
		return 0, err
	}
	start := now()
	for i := matchBatch - 1; i >= 0; i-- {
		if _, err := m.recv(matchBytes, i); err != nil {
			return 0, err
		}
	}
	return now() - start, nil
}

// post posts the fillers.
func (m *matcher) post(depth int) error {
	m.fillers = m.fillers[:0]
	at := matchBatch * matchBytes
	for i := range depth {
		r, err := mpi.Irecv(m.c, m.buf[at:at+matchBytes], m.peer, tagFiller+i)
		if err != nil {
			return err
		}
		m.fillers = append(m.fillers, r)
	}
	return nil
}

// drain takes the fillers out of the queue, in its order.
func (m *matcher) drain(depth int) error {
	if m.o.Queue == Posted {
		return mpi.Waitall(m.fillers, nil)
	}
	for i := range depth {
		if _, err := m.recv(matchBytes, tagFiller+i); err != nil {
			return err
		}
	}
	return nil
}
