package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// side is what one rank needs for its half of an exchange.
type side struct {
	c       *mpi.Comm
	out, in []byte
	rs      [2]mpi.Request
	sts     [2]mpi.Status
}

// exchanges are a message each way; rank 0 begins where it matters.
var exchanges = []struct {
	name string
	do   func(s *side) error
}{
	{"Send and Recv", func(s *side) error {
		if s.c.Rank() == 0 {
			if err := mpi.Send(s.c, s.out, 1, 1); err != nil {
				return err
			}
			_, err := mpi.Recv(s.c, s.in, 1, 1)
			return err
		}
		if _, err := mpi.Recv(s.c, s.in, 0, 1); err != nil {
			return err
		}
		return mpi.Send(s.c, s.out, 0, 1)
	}},
	{"Isend, Irecv and Wait", func(s *side) (err error) {
		if err = s.start(); err != nil {
			return err
		}
		for i := range s.rs {
			if _, err = mpi.Wait(&s.rs[i]); err != nil {
				return err
			}
		}
		return nil
	}},
	{"Isend, Irecv and Waitall", func(s *side) error {
		if err := s.start(); err != nil {
			return err
		}
		return mpi.Waitall(s.rs[:], s.sts[:])
	}},
	{"Isend, Irecv and Waitany", func(s *side) error {
		if err := s.start(); err != nil {
			return err
		}
		for range s.rs {
			if _, _, err := mpi.Waitany(s.rs[:]); err != nil {
				return err
			}
		}
		return nil
	}},
	{"Sendrecv", func(s *side) error {
		_, err := mpi.Sendrecv(s.c, s.out, 1-s.c.Rank(), 1, s.in, 1-s.c.Rank(), 1)
		return err
	}},
}

func (s *side) start() (err error) {
	if s.rs[0], err = mpi.Irecv(s.c, s.in, 1-s.c.Rank(), 1); err == nil {
		s.rs[1], err = mpi.Isend(s.c, s.out, 1-s.c.Rank(), 1)
	}
	return err
}

// allocRounds is how many exchanges the average is over: the Finalize behind them
// counts, too.
func allocRounds() int {
	if testing.Short() {
		return 250
	}
	return 500
}

// The allocations of both ranks count: they are goroutines of this process.
func TestMessagesUpTo8KBAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rounds := allocRounds()
	onEach(t, func(t *testing.T, fabric string) {
		for _, x := range exchanges {
			for _, arena := range []bool{false, true} {
				for _, n := range []int{0, 8, 64, 1024, 8192} {
					t.Run(fmt.Sprintf("%s/%d/arena=%t", x.name, n, arena), func(t *testing.T) {
						run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
							s := &side{c: w.Comm(), out: make([]byte, n), in: make([]byte, n)}
							if arena {
								for _, b := range []*[]byte{&s.out, &s.in} {
									var err error
									if *b, err = mpi.Alloc[byte](n); err != nil {
										return err
									}
									defer mpi.Free(*b)
								}
							}
							return steady(t, c, "a message each way", rounds, func() error { return x.do(s) })
						})
					})
				}
			}
		}
	})
}

// steady checks that two ranks that do the same over and over allocate nothing. What
// else the process does counts, too, such as the end of an earlier test, so of a few
// measurements one without allocations is enough.
func steady(t *testing.T, c *mpi.Comm, what string, rounds int, do func() error) error {
	t.Helper()
	// Queues and lists grow to what they need first.
	for range 200 {
		if err := do(); err != nil {
			return err
		}
	}
	for tries := 5; ; tries-- {
		got, again, err := 0., []byte{0}, error(nil)
		once := func() {
			if err == nil {
				err = do()
			}
		}
		if c.Rank() == 0 {
			if got = testing.AllocsPerRun(rounds, once); got != 0 && tries > 1 {
				again[0] = 1
			}
			if err == nil {
				err = mpi.Send(c, again, 1, 99)
			}
		} else {
			for range rounds + 1 { // AllocsPerRun runs once to warm up
				once()
			}
			if err == nil {
				_, err = mpi.Recv(c, again, 0, 99)
			}
		}
		if err != nil || again[0] == 0 {
			if got != 0 {
				t.Errorf("%v allocations for %s", got, what)
			}
			return err
		}
	}
}
