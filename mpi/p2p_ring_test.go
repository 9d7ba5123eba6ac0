package mpi_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// ringWays are what the ranks of a ring block in: next is the rank they need.
var ringWays = map[string]struct {
	words string // of the report
	block func(w *mpi.World, c *mpi.Comm, next int) error
}{
	"Recv":  {"wait to receive from one another, and none of them sends: deadlock", blockRecv},
	"Ssend": {"are blocked in a send: deadlock", blockSsend},
	"Send of what is announced": {"are blocked in a send: deadlock", func(w *mpi.World, c *mpi.Comm, next int) error {
		return mpi.Send(c, make([]byte, long), next, 5)
	}},
	"Probe": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		_, err := mpi.Probe(c, next, 5)
		return err
	}},
	"each another way": {"wait for one another: deadlock", func(w *mpi.World, c *mpi.Comm, next int) error {
		if c.Rank()%2 == 0 {
			return blockRecv(w, c, next)
		}
		return blockSsend(w, c, next)
	}},
	"Wait for an Isendrecv": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		r, err := mpi.Isendrecv(c, []byte{1}, next, 6, make([]byte, 8), next, 5)
		if err == nil {
			_, err = mpi.Wait(&r)
		}
		return err
	}},
	"Recv from any rank": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		return blockRecv(w, c, mpi.AnySource)
	}},
	"Recv beside an Issend that nobody receives": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		r, err := mpi.Issend(c, make([]byte, 8), (c.Rank()+c.Size()-1)%c.Size(), 9)
		if err == nil {
			err = blockRecv(w, c, next)
			mpi.Wait(&r)
		}
		return err
	}},
	"Waitany of several": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		return waitFor(w, c, next, mpi.AnySource, func(rs []mpi.Request) error {
			_, _, err := mpi.Waitany(rs)
			return err
		})
	}},
	"Waitall of several": {"wait to receive from one another", func(w *mpi.World, c *mpi.Comm, next int) error {
		return waitFor(w, c, next, mpi.AnySource, func(rs []mpi.Request) error { return mpi.Waitall(rs, nil) })
	}},
}

func blockRecv(_ *mpi.World, c *mpi.Comm, next int) error {
	_, err := mpi.Recv(c, make([]byte, 8), next, 5)
	return err
}

func blockSsend(_ *mpi.World, c *mpi.Comm, next int) error {
	return mpi.Ssend(c, make([]byte, 8), next, 5)
}

// waitFor waits for receives from both, in one call.
func waitFor(_ *mpi.World, c *mpi.Comm, a, b int, wait func([]mpi.Request) error) error {
	ra, err := mpi.Irecv(c, make([]byte, 8), a, 5)
	if err != nil {
		return err
	}
	rb, err := mpi.Irecv(c, make([]byte, 8), b, 6)
	if err != nil {
		return err
	}
	rs := []mpi.Request{ra, rb}
	err = wait(rs)
	mpi.Waitall(rs, nil) // what is left of them, whose context has ended
	return err
}

// ringOf blocks every rank in block, for the next one, until f, called on each in
// turn, has returned. block is called with a context that ends then.
func ringOf(t *testing.T, fabric string, n int, block func(w *mpi.World, c *mpi.Comm, next int) error, f func(w *mpi.World, c *mpi.Comm)) {
	t.Helper()
	turns := make([]signal, n+1)
	for i := range turns {
		turns[i] = newSignal()
	}
	act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
		ok(c.Barrier()) // connected
		over, stop := context.WithCancel(c.Context())
		defer stop()
		join := aside(func() {
			if err := block(w, c.WithContext(over), (c.Rank()+1)%n); err != nil && over.Err() == nil {
				ok(err)
			}
		})
		if c.Rank() == 0 {
			turns[0].give()
		}
		turns[c.Rank()].take()
		f(w, c)
		if c.Rank() < n-1 {
			turns[c.Rank()+1].give()
		} else { // the last lets all go on
			for range n {
				turns[n].give()
			}
		}
		turns[n].take()
		stop()
		join()
	})
}

// report is what a rank says waits there.
func report(w *mpi.World) string {
	var text strings.Builder
	ok(w.Report(&text))
	return text.String()
}

// onceBlocked returns when a goroutine of the rank, of which none was, is blocked in a
// call, or when c has ended: a report knows nothing of one that is still on its way.
func onceBlocked(w *mpi.World, c *mpi.Comm) {
	for c.Context().Err() == nil && !slices.ContainsFunc(w.Pending(), func(p mpi.Pending) bool { return p.Blocked }) {
		runtime.Gosched()
	}
}

// Every rank of a ring says that it is one, and who is in it.
func TestARingOfRanksThatWaitForOneAnotherIsADeadlock(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{3, 4, 5} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				ranks := fmt.Sprintf("ranks 0 to %d", n-1)
				for name, way := range ordered(ringWays) {
					ringOf(t, fabric, n, way.block, func(w *mpi.World, c *mpi.Comm) {
						// Others may not be blocked yet.
						text := report(w)
						for c.Context().Err() == nil && !strings.Contains(text, "deadlock") {
							text = report(w)
						}
						said := ""
						for line := range strings.Lines(text) {
							if strings.Contains(line, "deadlock") {
								said = line
							}
						}
						if !strings.Contains(said, ranks) || !strings.Contains(said, way.words) && name != "each another way" {
							t.Errorf("%s, rank %d: the report does not say that %s %s:\n%s", name, c.Rank(), ranks, way.words, text)
						}
						for r := range n {
							if !strings.Contains(said, fmt.Sprintf("rank %d: ", r)) {
								t.Errorf("%s, rank %d: the report does not say what rank %d waits for:\n%s", name, c.Rank(), r, text)
							}
						}
					})
				}
			})
		}
	})
}

// A rank that waits for one of a ring says what ring that is.
func TestARankThatWaitsForARingNamesIt(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		ringOf(t, fabric, 4, func(w *mpi.World, c *mpi.Comm, next int) error {
			if c.Rank() == 2 {
				next = 0
			}
			return blockRecv(w, c, next%3)
		}, func(w *mpi.World, c *mpi.Comm) {
			text := report(w)
			for c.Context().Err() == nil && !strings.Contains(text, "deadlock") {
				text = report(w)
			}
			if !strings.Contains(text, "ranks 0 to 2 wait to receive from one another") {
				t.Errorf("rank %d:\n%s", c.Rank(), text)
			}
		})
	})
}

// A ring that one of its ranks can leave is none: that rank is 2. Rank 3, which waits for
// nobody, could send to it.
func TestARingThatARankCanLeaveIsNoDeadlock(t *testing.T) {
	ways := map[string]func(w *mpi.World, c *mpi.Comm, next int) error{
		"it computes": func(w *mpi.World, c *mpi.Comm, next int) error {
			<-c.Context().Done()
			return nil
		},
		"it receives from any rank": func(w *mpi.World, c *mpi.Comm, next int) error {
			return blockRecv(w, c, mpi.AnySource)
		},
		"it waits for any of two": func(w *mpi.World, c *mpi.Comm, next int) error {
			return waitFor(w, c, next, c.Size()-1, func(rs []mpi.Request) error {
				_, _, err := mpi.Waitany(rs)
				return err
			})
		},
		"it waits for some of two": func(w *mpi.World, c *mpi.Comm, next int) error {
			return waitFor(w, c, next, c.Size()-1, func(rs []mpi.Request) error {
				_, err := mpi.Waitsome(rs, make([]int, 2), nil)
				return err
			})
		},
		"another goroutine of it waits for something else": func(w *mpi.World, c *mpi.Comm, next int) error {
			r := get(mpi.GrequestStart(w, nil, nil, nil))
			copied := r
			join := aside(func() { get(mpi.Wait(&r)) })
			onceBlocked(w, c)
			err := blockRecv(w, c, next)
			ok(mpi.GrequestComplete(copied))
			join()
			return err
		},
		"another goroutine of it receives from any rank": func(w *mpi.World, c *mpi.Comm, next int) error {
			join := aside(func() {
				if err := blockRecv(w, c, mpi.AnySource); c.Context().Err() == nil {
					ok(err)
				}
			})
			onceBlocked(w, c)
			err := blockRecv(w, c, next)
			join()
			return err
		},
		"a callback of it may send": func(w *mpi.World, c *mpi.Comm, next int) error {
			told := make(chan struct{})
			r := get(mpi.Irecv(c, make([]byte, 8), next, 7))
			ok(mpi.OnComplete(&r, func(mpi.Status, error) { close(told) }))
			err := blockRecv(w, c, next)
			<-told
			return err
		},
	}
	onEach(t, func(t *testing.T, fabric string) {
		for name, leave := range ordered(ways) {
			ringOf(t, fabric, 4, func(w *mpi.World, c *mpi.Comm, next int) error {
				switch c.Rank() {
				case 2:
					return leave(w, c, 0)
				case 3:
					<-c.Context().Done()
					return nil
				}
				return blockRecv(w, c, next)
			}, func(w *mpi.World, c *mpi.Comm) {
				for range 20 {
					if text := report(w); strings.Contains(text, "deadlock") {
						t.Errorf("%s, rank %d:\n%s", name, c.Rank(), text)
						break
					}
				}
			})
		}
	})
}

// Ranks that pass a message round are found blocked, each in a receive from the
// one before it or in a send to the next, nearly always; and that is no deadlock.
func TestAReportOfARingThatTurnsNamesNoDeadlock(t *testing.T) {
	sends := map[string]func(c *mpi.Comm, b []byte, dest int) error{
		"Send":  func(c *mpi.Comm, b []byte, dest int) error { return mpi.Send(c, b, dest, 5) },
		"Ssend": func(c *mpi.Comm, b []byte, dest int) error { return mpi.Ssend(c, b, dest, 5) },
	}
	onEach(t, func(t *testing.T, fabric string) {
		for _, ranks := range []int{3, 4} {
			t.Run(fmt.Sprint(ranks), func(t *testing.T) {
				for name, send := range ordered(sends) {
					for _, n := range []int{8, long} {
						act(t, fabric, ranks, func(w *mpi.World, c *mpi.Comm) {
							var over atomic.Bool
							join := aside(func() {
								defer over.Store(true)
								for range 60 {
									if text := report(w); strings.Contains(text, "deadlock") {
										t.Errorf("%s of %d bytes, rank %d:\n%s", name, n, c.Rank(), text)
										return
									}
								}
							})
							// The first byte of the message counts the ranks that have reported
							// enough, the second is set in the last round.
							counted := false
							next, before := (c.Rank()+1)%ranks, (c.Rank()+ranks-1)%ranks
							for b := make([]byte, n); b[1] == 0; {
								if c.Rank() == 0 {
									if int(b[0]) == ranks {
										b[1] = 1
									}
									ok(send(c, b, next))
								}
								get(mpi.Recv(c, b, before, 5))
								if over.Load() && !counted {
									counted = true
									b[0]++
								}
								if c.Rank() > 0 {
									ok(send(c, b, next))
								}
							}
							join()
						})
					}
				}
			})
		}
	})
}
