package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// namesRank checks that an error names the rank, and not the one of the job.
func namesRank(t *testing.T, what string, err error, class mpi.Class, rank, world int) {
	t.Helper()
	want(t, what, err, class)
	text := fmt.Sprint(err)
	if !strings.Contains(text, fmt.Sprintf("rank %d", rank)) && !strings.Contains(text, fmt.Sprintf("ranks [%d]", rank)) || strings.Contains(text, fmt.Sprintf("rank %d", world)) || strings.Contains(text, "of the job") {
		t.Errorf("%s: %q, want rank %d and not rank %d of the job", what, text, rank, world)
	}
}

// dies ends one rank, once all have come so far.
func dies(c *mpi.Comm, rank int) {
	const tag = 77
	if c.Rank() != rank {
		ok(mpi.Send(c, []byte{}, rank, tag))
		return
	}
	for range c.Size() - 1 {
		get(mpi.Recv(c, []byte{}, mpi.AnySource, tag))
	}
	stop(errDies)
}

// reversed is a communicator of all ranks from the last to the first.
func reversed(c *mpi.Comm) *mpi.Comm { return get(c.Split(0, -c.Rank())) }

// Errors about a rank that has died name it as the communicator does.
func TestErrorsNameTheDeadAsTheCommunicatorDoes(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const n, world, dead = 4, 0, 3
		lose(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				r := reversed(c)
				win := get(mpi.WinAllocate[int64](r, 1, mpi.WinOptions{}))
				ok(win.LockAll())
				dies(c, world)
				b := make([]int64, 1)
				check := func(what string, err error) {
					t.Helper()
					namesRank(t, what, err, mpi.ErrProcFailed, dead, world)
				}
				_, err := mpi.Recv(r, b, dead, 1)
				check("Recv", err)
				check("Send", mpi.Send(r, b, dead, 1))
				_, err = mpi.Probe(r, dead, 1)
				check("Probe", err)
				q := get(mpi.Irecv(r, b, dead, 1))
				_, err = mpi.Wait(&q)
				check("Irecv", err)
				check("Barrier", r.Barrier())
				check("Put and Flush", errors.Join(mpi.Put(win.Win, b, dead, 0), win.Flush(dead)))
				check("UnlockAll", win.UnlockAll())
				_, err = mpi.Recv(r, b, mpi.AnySource, 1)
				namesRank(t, "Recv from any", err, mpi.ErrProcFailedPending, dead, world)
				p := get(mpi.PrecvInit(r, b, 1, dead, 2))
				ok(p.Start())
				_, err = p.Wait()
				check("PrecvInit", err)
				ok(p.Start())
				check("Waitall", mpi.Waitall([]mpi.Request{{}, p.Request}, nil))
				ok(p.Start())
				_, _, err = mpi.Waitany([]mpi.Request{{}, p.Request})
				check("Waitany", err)
				_, err = r.Agree(1)
				check("Agree", err)
				sums(t, get(r.Shrink()), n-1) // nobody leaves before
			})
		})
	})
}

// Errors about a rank whose call has failed name it as the communicator does.
func TestErrorsNameTheFailedAsTheCommunicatorDoes(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const world, failing = 0, 2
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			r := reversed(c)
			broken := mpi.NewOp(func(a, b int64) int64 {
				if c.Rank() == world {
					panic("it can't")
				}
				return a + b
			}, mpi.Commutes())
			in := []int64{1}
			err := mpi.Allreduce(r, broken, in, make([]int64, 1))
			if c.Rank() == world {
				wantWords(t, "the call that fails", err, mpi.ErrOp, "it can't")
				return
			}
			for again := err == nil; again; again = err == nil { // it may have been done before the news
				err = r.Barrier()
			}
			namesRank(t, "Allreduce", err, mpi.ErrOp, failing, world)
			namesRank(t, "the next call", r.Barrier(), mpi.ErrOp, failing, world)
		})
	})
}

// Errors on an intercommunicator name a dead rank as its remote group does.
func TestErrorsNameTheDeadOfTheRemoteGroup(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const world, dead = 0, 1
		lose(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				local := get(c.Split(c.Rank()/2, -c.Rank()))
				x := get(mpi.IntercommCreate(local, 0, c, 3-2*(c.Rank()/2), 5)) // led by ranks 1 and 3
				if dies(c, world); c.Rank() == 1 {                              // is there until the others have seen all
					get(mpi.Recv(c, []byte{}, 2, 8))
					get(mpi.Recv(c, []byte{}, 3, 8))
					return
				}
				b := make([]int64, 1)
				_, err := mpi.Recv(x, b, dead, 1)
				namesRank(t, "Recv", err, mpi.ErrProcFailed, dead, world)
				wantWords(t, "Send", mpi.Send(x, b, dead, 1), mpi.ErrProcFailed, "rank 1 of the remote group")
				_, err = mpi.Recv(x, b, mpi.AnySource, 1)
				wantWords(t, "Recv from any", err, mpi.ErrProcFailedPending, "rank 1 of the remote group")
				p := get(mpi.PrecvInit(x, b, 1, dead, 2))
				ok(p.Start())
				_, err = p.Wait()
				wantWords(t, "PrecvInit", err, mpi.ErrProcFailed, "rank 1 of the remote group")
				ok(mpi.Send(c, []byte{}, 1, 8))
			})
		})
	})
}
