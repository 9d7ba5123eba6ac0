package mpi_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	state "github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/mpi"
)

// statesOf asks ranks twice, as weft stacks does.
func statesOf(t *testing.T, names []peek.Name) *state.Job {
	t.Helper()
	var rounds [2]*state.Job
	for i, question := range []string{"pending", "settled"} {
		rounds[i] = &state.Job{}
		for _, r := range asked(t, names, question) {
			var s state.Rank
			if err := r.Unmarshal(&s); err != nil {
				t.Log(err)
				return &state.Job{}
			}
			rounds[i].Ranks = append(rounds[i].Ranks, s)
		}
	}
	return rounds[1].Lasting(rounds[0])
}

// What ranks tell leads to the sentences that name the cause: here for hangs that no job
// of weft run is in for long, or that take more than one goroutine.
func TestStatesOfRanksNameTheCause(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		hang  func(c *mpi.Comm) error
		want  []string // parts of the sentences
		never string
	}{
		{"calls that differ", 3, func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				return mpi.Allreduce(c, mpi.Sum, []int64{1}, []int64{0})
			}
			return c.Barrier()
		}, []string{"rank 2 is in Allreduce of 8 bytes by Sum of int64, number 1 of MPI_COMM_WORLD and ranks 0 and 1 are in Barrier, number 1 of MPI_COMM_WORLD",
			"ranks 1 and 2 wait for each other: deadlock", "rank 0 waits for those and can't go on either"}, ""},
		{"roots that differ", 2, func(c *mpi.Comm) error {
			return mpi.Bcast(c, make([]byte, 1<<20), c.Rank())
		}, []string{"rank 0 is in Bcast of 1048576 bytes from root 0, number 1 of MPI_COMM_WORLD and rank 1 is in Bcast of 1048576 bytes from root 1, number 1 of MPI_COMM_WORLD"}, ""},
		{"Sendrecvs with other tags", 2, func(c *mpi.Comm) error {
			_, err := mpi.Sendrecv(c, make([]byte, 1<<20), 1-c.Rank(), 1, make([]byte, 1<<20), 1-c.Rank(), 2)
			return err
		}, []string{"rank 0 is in a receive from rank 1, tag 2, MPI_COMM_WORLD, and a message from rank 1 with tag 1", "ranks 0 and 1 wait for each other: deadlock"}, ""},
		{"a Waitany that one message suffices for", 3, func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				<-c.Context().Done()
				return nil
			}
			var rs []mpi.Request
			for _, from := range []int{1 - c.Rank(), 2} {
				r, err := mpi.Irecv(c, []byte{0}, from, 1)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			_, _, err := mpi.Waitany(rs)
			return err
		}, []string{"rank 0 waits in a receive from rank 2", "rank 1 waits in a receive from rank 0"}, "deadlock"},
		{"a second goroutine that can go on", 2, func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				go mpi.Recv(c, []byte{0}, mpi.AnySource, 9)
			}
			_, err := mpi.Recv(c, []byte{0}, 1-c.Rank(), 1)
			return err
		}, []string{"ranks 0 and 1 wait to receive from each other"}, ""},
		{"a callback that may make calls", 2, func(c *mpi.Comm) error {
			r, err := mpi.Irecv(c, []byte{0}, 1-c.Rank(), 9)
			if err == nil && c.Rank() == 0 {
				err = mpi.OnComplete(&r, func(mpi.Status, error) {})
			}
			if err == nil {
				_, err = mpi.Recv(c, []byte{0}, 1-c.Rank(), 1)
			}
			return err
		}, []string{"rank 0 waits in a receive from rank 1", "rank 1 waits in a receive from rank 0"}, "deadlock"},
		{"a group that another communicator splits", 4, func(c *mpi.Comm) error {
			half, err := c.Split(c.Rank()%2, 0)
			if err == nil {
				err = half.SetName("half")
			}
			if err == nil && c.Rank() != 3 {
				err = half.Barrier()
			}
			if err == nil {
				err = c.Barrier()
			}
			return err
		}, []string{`rank 1 waits in Barrier, number 1 of communicator "half", which rank 3 has not called: rank 3 is in Barrier, number`,
			"which rank 1 has not called: rank 1 is in Barrier"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runningAside(t, c.ranks, func(w *mpi.World, ready func(), over <-chan struct{}) error {
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					<-over
					cancel()
				}()
				ready()
				c.hang(w.Comm().WithContext(ctx)) // its error is that of ctx
				<-over
				return nil
			}, func() {
				for _, names := range socketsHere(t) {
					for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
						j := statesOf(t, names)
						text := strings.Join(j.Sentences(), "\n")
						if !slices.ContainsFunc(c.want, func(s string) bool { return !strings.Contains(text, s) }) {
							if c.never != "" && strings.Contains(text, c.never) {
								t.Error(text)
							}
							break
						}
						if time.Now().After(end) {
							t.Error(text)
							break
						}
					}
				}
			}, mpi.WithoutLooks())
		})
	}
}
