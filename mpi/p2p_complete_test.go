package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// completions complete one request in every way, waiting for it if need be.
var completions = map[string]func(r *mpi.Request) (mpi.Status, error){
	"Wait": mpi.Wait,
	"Test": func(r *mpi.Request) (st mpi.Status, err error) {
		for ended := false; !ended && err == nil; {
			ended, st, err = mpi.Test(r)
		}
		return st, err
	},
	"Waitall": func(r *mpi.Request) (mpi.Status, error) {
		return inOne(r, func(rs []mpi.Request, sts []mpi.Status) error { return mpi.Waitall(rs, sts) })
	},
	"Testall": func(r *mpi.Request) (mpi.Status, error) {
		return inOne(r, func(rs []mpi.Request, sts []mpi.Status) (err error) {
			for ended := false; !ended && err == nil; {
				ended, err = mpi.Testall(rs, sts)
			}
			return err
		})
	},
	"Waitany": func(r *mpi.Request) (st mpi.Status, err error) {
		rs := []mpi.Request{{}, *r}
		_, st, err = mpi.Waitany(rs)
		*r = rs[1]
		return st, err
	},
	"Testany": func(r *mpi.Request) (st mpi.Status, err error) {
		rs := []mpi.Request{*r}
		for ended := false; !ended && err == nil; {
			ended, _, st, err = mpi.Testany(rs)
		}
		*r = rs[0]
		return st, err
	},
	"Waitsome": func(r *mpi.Request) (mpi.Status, error) {
		return inOne(r, func(rs []mpi.Request, sts []mpi.Status) error {
			_, err := mpi.Waitsome(rs, make([]int, 1), sts)
			return err
		})
	},
	"Testsome": func(r *mpi.Request) (mpi.Status, error) {
		return inOne(r, func(rs []mpi.Request, sts []mpi.Status) (err error) {
			for n := 0; n == 0 && err == nil; {
				n, err = mpi.Testsome(rs, make([]int, 1), sts)
			}
			return err
		})
	},
}

func inOne(r *mpi.Request, f func([]mpi.Request, []mpi.Status) error) (mpi.Status, error) {
	rs, sts := []mpi.Request{*r}, make([]mpi.Status, 1)
	err := f(rs, sts)
	*r = rs[0]
	if sts[0].Err != nil {
		err = sts[0].Err
	}
	sts[0].Err = nil
	return sts[0], err
}

func TestEveryCompletionGivesStatusAndError(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for name, complete := range ordered(completions) {
				for _, n := range sizes[1:] {
					if c.Rank() == 0 {
						get(mpi.Recv(c, make([]byte, 1), 1, 9))
						ok(mpi.Send(c, pattern(n, 1), 1, 1))
						ok(mpi.Send(c, pattern(n, 2), 1, 1))
						continue
					}
					in, short := make([]byte, n), make([]byte, n-1)
					a, b := get(mpi.Irecv(c, in, 0, 1)), get(mpi.Irecv(c, short, 0, 1))
					ok(mpi.Send(c, []byte{1}, 0, 9))
					st, err := complete(&a)
					if err != nil || st != (mpi.Status{Source: 0, Tag: 1, Bytes: uint64(n)}) || differs(in, 1) >= 0 || !a.Null() {
						t.Errorf("%s of %d bytes: %+v, %v", name, n, st, err)
					}
					st, err = complete(&b)
					want(t, name, err, mpi.ErrTruncate)
					if st != (mpi.Status{Source: 0, Tag: 1, Bytes: uint64(n)}) || differs(short, 2) >= 0 || !b.Null() {
						t.Errorf("%s of %d bytes into less: %+v", name, n, st)
					}
				}
			}
		}, opts...)
	})
}

func TestRequestStatusLeavesTheRequest(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			r := begin(mpi.Irecv(c, make([]byte, 8), 0, 1))
			if ended, st, err := mpi.RequestStatus(*r); ended || err != nil {
				t.Errorf("RequestStatus = %t, %+v, %v before the message", ended, st, err)
			}
			ok(mpi.Send(c, pattern(12, 1), 0, 1))
			for range 3 {
				ended, st, err := mpi.RequestStatus(*r)
				want(t, "RequestStatus", err, mpi.ErrTruncate)
				if !ended || st.Source != 0 || st.Tag != 1 || st.Bytes != 12 {
					t.Errorf("RequestStatus = %t, %+v", ended, st)
				}
			}
			copied := *r
			st, err := mpi.Wait(r)
			want(t, "Wait", err, mpi.ErrTruncate)
			if st.Bytes != 12 {
				t.Errorf("Wait: %+v", st)
			}
			_, _, err = mpi.RequestStatus(copied)
			want(t, "RequestStatus of a freed request", err, mpi.ErrRequest)
			ended, st, err := mpi.RequestStatus(mpi.Request{})
			if !ended || err != nil {
				t.Errorf("RequestStatus of a null request = %t, %v", ended, err)
			}
			isEmpty(t, "RequestStatus of a null request", st)
		})
	})
}

// Waitsome and Testsome give all that have ended, in order, with their errors.
func TestSomeGiveAllThatHaveEnded(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, some := range []struct {
			name string
			do   func([]mpi.Request, []int, []mpi.Status) (int, error)
		}{{"Waitsome", mpi.Waitsome}, {"Testsome", mpi.Testsome}} {
			act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
				rs := make([]mpi.Request, 6)
				for i := range rs {
					if i != 2 { // null
						rs[i] = get(mpi.Irecv(c, make([]byte, 8), 0, i))
					}
				}
				indices, sts := make([]int, 6), make([]mpi.Status, 6)
				if n, err := mpi.Testsome(rs, indices, sts); n != 0 || err != nil {
					t.Errorf("Testsome = %d, %v before any message", n, err)
				}
				for _, i := range []int{4, 1, 3} {
					ok(mpi.Send(c, make([]byte, 5+i), 0, i)) // 4 is too long
				}
				n, err := some.do(rs, indices, sts)
				want(t, some.name, err, mpi.ErrInStatus)
				if n != 3 {
					t.Fatalf("%s = %d, three have ended", some.name, n)
				}
				for k, i := range []int{1, 3, 4} {
					class := mpi.Class(0)
					if i == 4 {
						class = mpi.ErrTruncate
					}
					want(t, fmt.Sprint(some.name, " ", i), sts[k].Err, class)
					if indices[k] != i || sts[k].Tag != i || sts[k].Bytes != uint64(5+i) || !rs[i].Null() {
						t.Errorf("%s: index %d, %+v", some.name, indices[k], sts[k])
					}
				}
				ok(mpi.Send(c, make([]byte, 20), 0, 0))
				n, err = some.do(rs, indices, nil)
				want(t, some.name+" without statuses", err, mpi.ErrTruncate)
				if n != 1 || indices[0] != 0 {
					t.Errorf("%s = %d, %d", some.name, n, indices[0])
				}
				ok(mpi.Send(c, make([]byte, 1), 0, 5))
				if n, err := some.do(rs, indices, nil); n != 1 || indices[0] != 5 || err != nil {
					t.Errorf("%s = %d, %d, %v", some.name, n, indices[0], err)
				}
				if n, err := some.do(rs, indices, sts); n != mpi.Undefined || err != nil {
					t.Errorf("%s of null requests = %d, %v", some.name, n, err)
				}
			})
		}
	})
}

func TestNoRequestsAreComplete(t *testing.T) {
	for name, rs := range map[string][]mpi.Request{"nil": nil, "empty": {}} {
		ok(mpi.Waitall(rs, nil))
		ok(mpi.Waitall(rs, []mpi.Status{}))
		if ended, err := mpi.Testall(rs, nil); !ended || err != nil {
			t.Errorf("%s: Testall = %t, %v", name, ended, err)
		}
		if i, _, err := mpi.Waitany(rs); i != mpi.Undefined || err != nil {
			t.Errorf("%s: Waitany = %d, %v", name, i, err)
		}
		if ended, i, _, err := mpi.Testany(rs); !ended || i != mpi.Undefined || err != nil {
			t.Errorf("%s: Testany = %t, %d, %v", name, ended, i, err)
		}
		if n, err := mpi.Waitsome(rs, nil, nil); n != mpi.Undefined || err != nil {
			t.Errorf("%s: Waitsome = %d, %v", name, n, err)
		}
		if n, err := mpi.Testsome(rs, []int{}, []mpi.Status{}); n != mpi.Undefined || err != nil {
			t.Errorf("%s: Testsome = %d, %v", name, n, err)
		}
	}
}

// A stale handle keeps a Waitall from beginning: each status tells which it is.
func TestAStaleHandleLeavesTheOthersPending(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			old := get(mpi.Irecv(c, make([]byte, 1), 0, 9))
			stale := old
			ok(mpi.Send(c, []byte{1}, 0, 9))
			get(mpi.Wait(&old))
			rest := get(mpi.RecvInit(c, make([]byte, 1), 0, 9))
			for name, call := range map[string]func([]mpi.Request, []mpi.Status) error{
				"Waitall": mpi.Waitall,
				"Testall": func(rs []mpi.Request, sts []mpi.Status) error {
					_, err := mpi.Testall(rs, sts)
					return err
				},
			} {
				open := get(mpi.Irecv(c, make([]byte, 1), 0, 1))
				rs, sts := []mpi.Request{open, {}, stale, rest}, make([]mpi.Status, 4)
				want(t, name, call(rs, sts), mpi.ErrInStatus)
				for i, class := range []mpi.Class{mpi.ErrPending, 0, mpi.ErrRequest, 0} {
					want(t, fmt.Sprintf("%s, status %d", name, i), sts[i].Err, class)
				}
				want(t, name+" without statuses", call(rs, nil), mpi.ErrRequest)
				if name == "Waitall" {
					want(t, "Waitall for one request, thrice", mpi.Waitall([]mpi.Request{open, rest, open, open}, sts), mpi.ErrInStatus)
					for i, class := range []mpi.Class{mpi.ErrPending, 0, mpi.ErrRequest, mpi.ErrRequest} {
						want(t, fmt.Sprintf("Waitall for one request, thrice, status %d", i), sts[i].Err, class)
					}
				}
				if rs[0] != open {
					t.Errorf("%s has changed a handle that is pending", name)
				}
				ok(mpi.Send(c, []byte{1}, 0, 1))
				get(mpi.Wait(&open))

				// Where nothing is to be waited for the others are completed.
				for _, with := range []bool{true, false} {
					done := get(mpi.Isend(c, []byte{1}, 0, 2))
					in := get(mpi.Irecv(c, make([]byte, 1), 0, 2))
					for ended := false; !ended; {
						var err error
						ended, _, err = mpi.RequestStatus(in)
						ok(err)
					}
					rs, sts := []mpi.Request{in, {}, stale, rest, done}, make([]mpi.Status, 5)
					if with {
						want(t, name+" of what has ended", call(rs, sts), mpi.ErrInStatus)
						for i, class := range []mpi.Class{0, 0, mpi.ErrRequest, 0, 0} {
							want(t, fmt.Sprintf("%s, status %d", name, i), sts[i].Err, class)
						}
						if sts[0].Source != 0 || sts[0].Tag != 2 {
							t.Errorf("%s: the message has the status %+v", name, sts[0])
						}
					} else {
						want(t, name+" of what has ended, without statuses", call(rs, nil), mpi.ErrRequest)
					}
					if !rs[0].Null() || !rs[4].Null() {
						t.Errorf("%s has left what has ended", name)
					}
				}
			}
			_, _, err := mpi.Waitany([]mpi.Request{stale})
			want(t, "Waitany", err, mpi.ErrRequest)
			_, _, _, err = mpi.Testany([]mpi.Request{stale})
			want(t, "Testany", err, mpi.ErrRequest)
			_, err = mpi.Waitsome([]mpi.Request{stale}, make([]int, 1), nil)
			want(t, "Waitsome", err, mpi.ErrRequest)
			_, err = mpi.Testsome([]mpi.Request{stale}, make([]int, 1), nil)
			want(t, "Testsome", err, mpi.ErrRequest)
			_, err = mpi.Waitsome(make([]mpi.Request, 2), make([]int, 1), nil)
			want(t, "Waitsome with too few indices", err, mpi.ErrArg)
			want(t, "Waitall with too few statuses", mpi.Waitall(make([]mpi.Request, 2), make([]mpi.Status, 1)), mpi.ErrArg)
			ok(mpi.RequestFree(&rest))
		})
	})
}

// Many goroutines complete requests of one rank in every way at once.
func TestGoroutinesCompleteRequestsInEveryWayAtOnce(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const rounds = 40
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			last := 0
			var joins []func()
			for name, complete := range ordered(completions) {
				last++
				tag := last
				joins = append(joins, aside(func() {
					for i := range rounds {
						n := sizes[i%len(sizes)]
						in := make([]byte, n)
						r := get(mpi.Irecv(c, in, 1-c.Rank(), tag))
						s := get(mpi.Isend(c, pattern(n, tag*i), 1-c.Rank(), tag))
						get(complete(&s))
						if st := get(complete(&r)); differs(in, tag*i) >= 0 || st.Bytes != uint64(n) || !r.Null() || !s.Null() {
							stop(fmt.Errorf("%s: round %d: %+v", name, i, st))
						}
					}
				}))
			}
			for _, join := range joins {
				join()
			}
		}, opts...)
	})
}
