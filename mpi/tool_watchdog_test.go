package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// page is what a watchdog writes to; await blocks until it says something.
type page struct {
	mu   sync.Mutex
	text strings.Builder
	news chan struct{}
}

func newPage() *page { return &page{news: make(chan struct{}, 1)} }

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	p.text.Write(b)
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (p *page) await(ctx context.Context, words ...string) error {
	for {
		p.mu.Lock()
		text := p.text.String()
		p.mu.Unlock()
		missing := ""
		for _, w := range words {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return nil
		}
		select {
		case <-p.news:
		case <-ctx.Done():
			return fmt.Errorf("the report does not say %q:\n%s", missing, text)
		}
	}
}

// hang runs two ranks that hang until the watchdog has said the words. A report is
// about what can be seen within a second, and there is one for each operation: where a
// machine held the other rank up for that long, the ranks hang once more.
func hang(t *testing.T, fabric string, f func(c *mpi.Comm) error, words ...string) {
	t.Helper()
	for tries := 10; ; tries-- {
		err := hangOnce(t, fabric, f, words...)
		switch {
		case err == nil || t.Failed():
			return
		case tries == 1:
			t.Error(err)
			return
		}
	}
}

func hangOnce(t *testing.T, fabric string, f func(c *mpi.Comm) error, words ...string) error {
	t.Helper()
	p := newPage()
	ctx, cancel := context.WithTimeout(t.Context(), patience/10)
	defer cancel()
	over, stop := context.WithCancel(t.Context())
	said := make(chan error, 1)
	go func() {
		said <- p.await(ctx, words...)
		stop()
	}()
	run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
		// The watchdog speaks once, so what it sees must not be the connecting.
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := f(c.WithContext(over)); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("what hangs ended with %w", err)
		}
		return nil
	}, mpi.WithWatchdog(20*time.Millisecond, p))
	return <-said
}

func TestTheWatchdogSaysWhyRanksHang(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		t.Run("both receive", func(t *testing.T) {
			hang(t, fabric, func(c *mpi.Comm) error {
				_, err := mpi.Recv(c, make([]byte, 8), 1-c.Rank(), 5)
				return err
			}, "rank 0 of 2", "rank 1 of 2", "a receive from rank 1, tag 5, MPI_COMM_WORLD: no message has matched", "a goroutine is blocked in it",
				"wait to receive from each other, and neither sends: deadlock", "tool_watchdog_test.go:")
		})
		t.Run("both send", func(t *testing.T) {
			hang(t, fabric, func(c *mpi.Comm) error {
				return mpi.Ssend(c, make([]byte, 8), 1-c.Rank(), 5)
			}, "a send to rank 1, tag 5, MPI_COMM_WORLD, 8 bytes: waits for its receive", "both are blocked in a send: deadlock", "tool_watchdog_test.go:")
		})
		t.Run("wrong tag", func(t *testing.T) {
			hang(t, fabric, func(c *mpi.Comm) error {
				if c.Rank() == 0 {
					if err := mpi.Send(c, make([]byte, 24), 1, 7); err != nil {
						return err
					}
				} else if _, err := mpi.Probe(c, 0, 7); err != nil { // a wait of its own, which may have its own report
					return err
				}
				_, err := mpi.Recv(c, make([]byte, 8), 1-c.Rank(), 5)
				return err
			}, "a message of 24 bytes without a receive from rank 0, tag 7, MPI_COMM_WORLD",
				"and a message from rank 0 with tag 7 in MPI_COMM_WORLD (24 bytes) is there, which nobody receives: the tags differ, 5 and 7")
		})
		t.Run("wrong communicator", func(t *testing.T) {
			hang(t, fabric, func(c *mpi.Comm) error {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				if c.Rank() == 0 {
					if err := mpi.Send(d, make([]byte, 24), 1, 5); err != nil {
						return err
					}
				} else if _, err := mpi.Probe(d, 0, 5); err != nil {
					return err
				}
				_, err = mpi.Recv(c, make([]byte, 8), 1-c.Rank(), 5)
				return err
			}, "(24 bytes) is there, which nobody receives: the communicators differ")
		})
		t.Run("the other computes", func(t *testing.T) {
			hang(t, fabric, func(c *mpi.Comm) error {
				if c.Rank() == 0 {
					<-c.Context().Done()
					return context.Canceled
				}
				_, err := mpi.Recv(c, make([]byte, 8), 0, 5)
				return err
			}, "rank 0 is blocked in no call: it computes, or waits outside of the library")
		})
	})
}

// Each of two ranks that play ping-pong is found in a receive, mostly: at one
// time or another, and that is no deadlock.
func TestAReportOfRanksThatTalkNamesNoDeadlock(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{8, long} {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				var over atomic.Bool
				join := aside(func() {
					defer over.Store(true)
					for i := 0; i < 300 && c.Rank() == 0; i++ {
						var text strings.Builder
						ok(w.Report(&text))
						if strings.Contains(text.String(), "deadlock") {
							t.Errorf("messages of %d bytes:\n%s", n, text.String())
							return
						}
					}
				})
				for b := make([]byte, n); b[0] == 0; {
					if c.Rank() == 0 {
						if over.Load() {
							b[0] = 1
						}
						ok(mpi.Send(c, b, 1, 5))
					}
					get(mpi.Recv(c, b, 1-c.Rank(), 5))
					if c.Rank() == 1 {
						ok(mpi.Send(c, b, 0, 5))
					}
				}
				join()
			})
		}
	})
}

func TestPendingTellsWhatWaits(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			if err := mpi.Send(c, []int32{1, 2}, 1-c.Rank(), 3); err != nil {
				return err
			}
			r, err := mpi.Irecv(c, make([]int64, 4), 1-c.Rank(), 4)
			if err != nil {
				return err
			}
			if _, err := mpi.Probe(c, 1-c.Rank(), 3); err != nil {
				return err
			}
			var got []string
			for _, p := range w.Pending() {
				if p.Context%2 == 1 {
					continue // the other may be in Finalize
				}
				if p.Age > patience || p.Blocked {
					return fmt.Errorf("a %s is %v old, blocked: %t", p.What, p.Age, p.Blocked)
				}
				if p.What == "receive" && !strings.Contains(p.Place, "tool_watchdog_test.go:") {
					return fmt.Errorf("the receive comes from %q", p.Place)
				}
				got = append(got, fmt.Sprint(p.What, " ", p.Peer, " ", p.Tag, " ", p.Bytes))
			}
			slices.Sort(got) // they are in the order of their ages, in seconds
			want := fmt.Sprintf("[receive %d 4 32 unexpected message %d 3 8]", 1-c.Rank(), 1-c.Rank())
			if fmt.Sprint(got) != want {
				return fmt.Errorf("pending is %v, want %s", got, want)
			}
			if err := mpi.Cancel(&r); err != nil {
				return err
			}
			if st, err := mpi.Wait(&r); err != nil || !st.Cancelled {
				return fmt.Errorf("the cancelled receive: %v, %w", st, err)
			}
			_, err = mpi.Recv(c, make([]int32, 2), 1-c.Rank(), 3)
			return err
		})
	})
}

// What a rank is blocked in comes from a line of the program, however many calls
// of the engine are between.
func TestPendingNamesTheProgramsLine(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("callers are not known on " + runtime.GOARCH)
	}
	b, long := make([]byte, 8), make([]byte, 200_000)
	for _, call := range []struct {
		name string
		f    func(c *mpi.Comm) error
	}{
		{"Barrier", (*mpi.Comm).Barrier},
		{"Dup", func(c *mpi.Comm) error { _, err := c.Dup(); return err }},
		{"Sendrecv", func(c *mpi.Comm) error { _, err := mpi.Sendrecv(c, b, mpi.ProcNull, 1, b, 0, 1); return err }},
		{"SendrecvReplace", func(c *mpi.Comm) error { _, err := mpi.SendrecvReplace(c, b, mpi.ProcNull, 1, 0, 1); return err }},
		{"Bcast of a long view", func(c *mpi.Comm) error { return c.Bcast(mpi.Strided(long, len(long)/2, 1, 2), 0) }},
		{"Reduce of one by the program's operator", func(c *mpi.Comm) error {
			return c.Reduce(mpi.NewOp(func(a, b byte) byte { return a + b }), mpi.Strided(long, len(long)/2, 1, 2), mpi.Buf{}, 0)
		}},
		{"Probe", func(c *mpi.Comm) error { _, err := mpi.Probe(c, 0, 1); return err }},
	} {
		onEach(t, func(t *testing.T, fabric string) {
			run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
				d, err := c.Dup() // whose collective calls will be out of step
				if err != nil {
					return err
				}
				if c.Rank() == 0 { // which the other one waits for in vain
					_, err := mpi.Recv(c, make([]byte, 1), 1, 2)
					return err
				}
				ctx, stop := context.WithCancel(c.Context())
				ended := make(chan error, 1)
				go func() { ended <- call.f(d.WithContext(ctx)) }()
				place := ""
				for place == "" && ctx.Err() == nil {
					runtime.Gosched()
					for _, p := range w.Pending() {
						if p.Blocked {
							place = p.Place + " "
						}
					}
				}
				stop()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", call.name, err)
				}
				if !strings.Contains(place, "tool_watchdog_test.go:") {
					t.Errorf("%s is called at %q", call.name, place)
				}
				return mpi.Send(c, make([]byte, 1), 0, 2)
			})
		})
	}
}

func init() {
	roles["quits"] = func(c *mpi.Comm) error {
		pid := []int64{int64(syscall.Getpid())}
		if c.Rank() == 1 {
			if err := mpi.Send(c, pid, 0, 4); err != nil {
				return err
			}
			syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
		} else if _, err := mpi.Recv(c, pid, 1, 4); err != nil {
			return err
		}
		_, err := mpi.Recv(c, make([]byte, 8), 1-c.Rank(), 5)
		// Rank 0 fails of this, and not before the launcher knows of rank 1: it
		// names whom it hears of first.
		for c.Rank() == 0 && syscall.Kill(int(pid[0]), 0) == nil {
			runtime.Gosched()
		}
		return err
	}
}

// SIGQUIT reports and then does what it does to every Go program.
func TestSIGQUITReports(t *testing.T) {
	out, err := runRanks(t, 2, "quits")
	var exit *launch.ExitError
	if !errors.As(err, &exit) || exit.Rank != 1 || exit.Code != 2 {
		t.Errorf("the job ended with %v, want rank 1 to exit with 2\n%s", err, out)
	}
	for _, words := range []string{"weft: rank 1 of 2", "fabric " + processFabric() + "): ", "SIGQUIT: quit", "goroutine "} {
		if !strings.Contains(out, words) {
			t.Errorf("the report does not say %q:\n%s", words, out)
		}
	}
}
