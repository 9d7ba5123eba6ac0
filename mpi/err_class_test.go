package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// wantWords checks the class of an error and that its text has all words.
func wantWords(t *testing.T, what string, err error, class mpi.Class, words ...string) {
	t.Helper()
	want(t, what, err, class)
	for _, w := range words {
		if err != nil && !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}

// A second goroutine that makes a collective call on a communicator has an invalid
// communicator, for that call.
func TestASecondCollectiveCallIsOfClassErrComm(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			inside, refused := make(chan struct{}), make(chan struct{})
			op := (*mpi.Op)(mpi.NewOp(func(a, b int) int {
				if c.Rank() == 1 {
					close(inside)
					<-refused
				}
				return a + b
			}))
			join := func() {}
			if c.Rank() == 1 {
				join = aside(func() {
					defer close(refused)
					<-inside
					err := mpi.Allreduce(c.WithContext(ended()), mpi.Sum, []int{1}, []int{0})
					wantWords(t, "the second call", err, mpi.ErrComm, "another goroutine", "duplicate")
				})
			}
			sum := []int{0}
			ok(mpi.Allreduce(c, op, []int{c.Rank() + 1}, sum))
			join()
			if sum[0] != 3 {
				t.Errorf("the first call gives %d", sum[0])
			}
		})
	})
}

// A send whose receiver has freed the communicator had an invalid one.
func TestASendToAFreedCommunicatorIsOfClassErrComm(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			if c.Rank() == 1 {
				get(mpi.Probe(d, 0, 4))
				ok(d.Free())
			} else {
				_, err := mpi.Wait(begin(mpi.Issend(d, none, 1, 4)))
				wantWords(t, "Issend", err, mpi.ErrComm, "freed at the receiver", "before Comm.Free")
				ok(d.Free())
			}
			ok(c.Barrier())
		})
	})
}

// The panic of an operator is an error of the operator: at its rank, at the others,
// and in the calls behind.
func TestAnOperatorThatPanicsIsOfClassErrOp(t *testing.T) {
	failure := errors.New("no such sum")
	onEach(t, func(t *testing.T, fabric string) {
		for _, nonblocking := range []bool{false, true} {
			act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				op := (*mpi.Op)(mpi.NewOp(func(a, b int) int { panic(failure) }))
				all := func(op *mpi.Op) error {
					if !nonblocking {
						return mpi.Allreduce(d, op, []int{1}, []int{0})
					}
					r, err := mpi.Iallreduce(d, op, []int{1}, []int{0})
					ok(err)
					return second(mpi.Wait(&r))
				}
				err := all(op)
				wantWords(t, "Allreduce", err, mpi.ErrOp, "operator has panicked: no such sum")
				var mine *mpi.OperatorError
				var others *mpi.CallError
				switch {
				case errors.As(err, &mine):
					if mine.Value != failure || !errors.Is(err, failure) || !strings.Contains(string(mine.Stack), "err_class_test.go") {
						t.Errorf("the error has the value %v and the stack\n%s", mine.Value, mine.Stack)
					}
				case !errors.As(err, &others) || mpi.Class(others.Code) != mpi.ErrOp:
					t.Errorf("the error is neither this rank's nor another's: %v", err)
				}
				wantWords(t, "the next call", all(mpi.Sum), mpi.ErrOp, "an earlier collective call has failed")
				ok(c.Barrier())
			})
		}
	})
}
