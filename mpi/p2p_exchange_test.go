package mpi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestATruncatedMessageIsConsumedAndTheNextComesWhole(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			for _, n := range []int{1, 6, 7, 100, 1024, 1025, 2000, 3000, 100_000} {
				out := make([]int64, n)
				for i := range out {
					out[i] = int64(i + n)
				}
				if c.Rank() == 0 {
					if err := mpi.Send(c, out, 1, 1); err != nil {
						return err
					}
					if err := mpi.Send(c, out, 1, 1); err != nil {
						return err
					}
					continue
				}
				in := make([]int64, n+8)
				for i := range in {
					in[i] = -1
				}
				short := n / 2
				st, err := mpi.Recv(c, in[:short], 0, 1)
				want(t, "Recv", err, mpi.ErrTruncate)
				if mpi.Count[int64](st) != n || st.Source != 0 || st.Tag != 1 {
					t.Errorf("status %+v of a message of %d", st, n)
				}
				for i, v := range in {
					if i < short && v != out[i] || i >= short && v != -1 {
						t.Fatalf("%d of %d elements received: element %d is %d", short, n, i, v)
					}
				}
				st, err = mpi.Recv(c, in, 0, 1)
				if err != nil || mpi.Count[int64](st) != n || in[n-1] != out[n-1] || in[n] != -1 {
					t.Errorf("the next message: %+v, %v", st, err)
				}
			}
			return nil
		})
	})
}

func TestWildcardsTellWhoSentWhat(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) error {
			if c.Rank() != 0 {
				return mpi.Send(c, []int{c.Rank()}, 0, 10+c.Rank())
			}
			seen := map[int]bool{}
			for range 3 {
				in := []int{-1}
				st, err := mpi.Recv(c, in, mpi.AnySource, mpi.AnyTag)
				if err != nil {
					return err
				}
				if st.Source != in[0] || st.Tag != 10+in[0] || seen[in[0]] {
					t.Errorf("status %+v of the message of %d, seen %v", st, in[0], seen)
				}
				seen[in[0]] = true
			}
			return nil
		})
	})
}

func TestSendrecvInARingDoesNotDeadlock(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) error {
			right, left := (c.Rank()+1)%5, (c.Rank()+4)%5
			for _, n := range []int{0, 1, 5000, 50_000} {
				out, in := pattern(n, c.Rank()), make([]byte, n)
				st, err := mpi.Sendrecv(c, out, right, 3, in, left, 3)
				if err != nil {
					return err
				}
				if i := differs(in, left); i >= 0 || st.Source != left || st.Bytes != uint64(n) {
					return fmt.Errorf("%d bytes of %d: byte %d differs, status %+v", n, left, i, st)
				}
			}
			in := make([]byte, 1)
			_, err := mpi.Sendrecv(c, pattern(9, 1), c.Rank(), 3, in, c.Rank(), 3)
			want(t, "Sendrecv with a short buffer", err, mpi.ErrTruncate)
			return nil
		})
	})
}

func TestWaitallPutsEachErrorIntoItsStatus(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, test := range []bool{false, true} {
			run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
				if c.Rank() == 0 {
					for i := range 4 {
						if err := mpi.Send(c, make([]byte, 100), 1, i); err != nil {
							return err
						}
					}
					for i := range 2 {
						if err := mpi.Send(c, make([]byte, 100), 1, i); err != nil {
							return err
						}
					}
					return nil
				}
				var rs []mpi.Request
				for i, room := range []int{100, 10, 100, 20} {
					r, err := mpi.Irecv(c, make([]byte, room), 0, i)
					if err != nil {
						return err
					}
					rs = append(rs, r)
				}
				rs = append(rs, mpi.Request{})
				sts := make([]mpi.Status, 5)
				var err error
				if test {
					for ended := false; !ended; runtime.Gosched() {
						if ended, err = mpi.Testall(rs, sts); err != nil && !ended {
							return err
						}
					}
				} else {
					err = mpi.Waitall(rs, sts)
				}
				want(t, "all", err, mpi.ErrInStatus)
				for i, class := range []mpi.Class{0, mpi.ErrTruncate, 0, mpi.ErrTruncate, 0} {
					want(t, fmt.Sprint("status ", i), sts[i].Err, class)
					if i < 4 && (sts[i].Bytes != 100 || sts[i].Tag != i) {
						t.Errorf("status %d: %+v", i, sts[i])
					}
				}
				rs = rs[:0]
				for i, room := range []int{100, 10} {
					r, err := mpi.Irecv(c, make([]byte, room), 0, i)
					if err != nil {
						return err
					}
					rs = append(rs, r)
				}
				want(t, "all without statuses", mpi.Waitall(rs, nil), mpi.ErrTruncate)
				return nil
			})
		}
	})
}

func TestWaitanyGivesEachRequestOnce(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			const n = 20
			if c.Rank() == 0 {
				for _, i := range rand.Perm(n) {
					if err := mpi.Send(c, []int{i}, 1, i); err != nil {
						return err
					}
				}
				return nil
			}
			rs := make([]mpi.Request, n)
			in := make([][]int, n)
			for i := range rs {
				in[i] = []int{-1}
				var err error
				if rs[i], err = mpi.Irecv(c, in[i], 0, i); err != nil {
					return err
				}
			}
			seen := map[int]bool{}
			for range n {
				i, st, err := mpi.Waitany(rs)
				if err != nil {
					return err
				}
				if seen[i] || st.Tag != i || in[i][0] != i {
					t.Errorf("request %d: %+v, got %d, seen before: %t", i, st, in[i][0], seen[i])
				}
				seen[i] = true
			}
			if i, _, err := mpi.Waitany(rs); i != mpi.Undefined || err != nil {
				t.Errorf("Waitany of nothing = %d, %v", i, err)
			}
			return nil
		})
	})
}

func TestManyGoroutinesOfTwoRanksSendAndReceive(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			const goroutines, rounds = 64, 30
			errs := make([]error, goroutines)
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(g), 1)) // the same on both ranks
					for i := range rounds {
						n := rnd.IntN([]int{50, 2000, 20_000, 100_000}[rnd.IntN(4)])
						out, in := pattern(n, g*1000+i), make([]byte, n)
						var err error
						switch {
						case i%3 == 0:
							_, err = mpi.Sendrecv(c, out, 1-c.Rank(), g, in, 1-c.Rank(), g)
						case c.Rank() == 0:
							if err = mpi.Send(c, out, 1, g); err == nil {
								_, err = mpi.Recv(c, in, 1, g)
							}
						default:
							if _, err = mpi.Recv(c, in, 0, g); err == nil {
								err = mpi.Send(c, out, 0, g)
							}
						}
						if err == nil {
							if at := differs(in, g*1000+i); at >= 0 {
								err = fmt.Errorf("byte %d of %d differs", at, n)
							}
						}
						if err != nil {
							errs[g] = fmt.Errorf("goroutine %d, round %d: %w", g, i, err)
							return
						}
					}
				})
			}
			wg.Wait()
			return errors.Join(errs...)
		})
	})
}

func TestTenRanksTalkAllToAll(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 10, func(w *mpi.World, c *mpi.Comm) error {
			var rs []mpi.Request
			in := make([][]byte, 10)
			for _, n := range []int{8, 3000, 30_000} {
				rs = rs[:0]
				for p := range 10 {
					in[p] = make([]byte, n)
					r, err := mpi.Irecv(c, in[p], p, n)
					if err != nil {
						return err
					}
					s, err := mpi.Isend(c, pattern(n, c.Rank()*10+p), p, n)
					if err != nil {
						return err
					}
					rs = append(rs, r, s)
				}
				if err := mpi.Waitall(rs, nil); err != nil {
					return err
				}
				for p := range 10 {
					if i := differs(in[p], p*10+c.Rank()); i >= 0 {
						return fmt.Errorf("byte %d of %d from %d differs", i, n, p)
					}
				}
			}
			return nil
		})
	})
}

// Rank 0 sends as fast as it can while rank 1 does not receive, then does.
func TestAFloodArrivesWholeAndInOrder(t *testing.T) {
	messages := 20_000
	if testing.Short() || raceEnabled {
		messages = 2000
	}
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			rnd := rand.New(rand.NewPCG(1, 2))
			buf := make([]byte, 20_000)
			if c.Rank() == 1 {
				if _, err := mpi.Recv(c, buf, 0, 2); err != nil { // half way
					return err
				}
				for i := range messages {
					n := rnd.IntN(20_001)
					st, err := mpi.Recv(c, buf, 0, 1)
					if err != nil {
						return err
					}
					if st.Bytes != uint64(n) || differs(buf[:n], i) >= 0 {
						return fmt.Errorf("message %d of %d bytes came with %d, or others", i, n, st.Bytes)
					}
				}
				return nil
			}
			var rs []mpi.Request
			for i := range messages {
				if i == messages/2 {
					r, err := mpi.Isend(c, []byte{}, 1, 2)
					if err != nil {
						return err
					}
					rs = append(rs, r)
				}
				r, err := mpi.Isend(c, pattern(rnd.IntN(20_001), i), 1, 1)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			return mpi.Waitall(rs, nil)
		})
	})
}

// The collector runs, and moves stacks, while transfers hold buffers. The
// continuous integration runs it with GOGC=1 and GODEBUG=clobberfree=1 too.
func TestTheCollectorMayRunDuringTransfers(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		})
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			for round := range 40 {
				var rs []mpi.Request
				var in [][]byte
				for i, n := range []int{8, 200, 5000, 10_000, 18_000, 70_000, 300_000} {
					in = append(in, make([]byte, n))
					r, err := mpi.Irecv(c, in[i], 1-c.Rank(), i)
					if err != nil {
						return err
					}
					// The request alone holds the buffer.
					s, err := mpi.Isend(c, pattern(n, round+i), 1-c.Rank(), i)
					if err != nil {
						return err
					}
					rs = append(rs, r, s)
				}
				if err := mpi.Waitall(rs, nil); err != nil {
					return err
				}
				for i := range in {
					if at := differs(in[i], round+i); at >= 0 {
						return fmt.Errorf("round %d: byte %d of %d differs", round, at, len(in[i]))
					}
				}
			}
			return nil
		})
		close(stop)
		wg.Wait()
	})
}
