package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// has checks a communicator's value of a key.
func has[T comparable](t *testing.T, what string, kv *mpi.Keyval[T], c *mpi.Comm, value T, is bool) {
	t.Helper()
	got, ok, err := kv.Get(c)
	if err != nil || ok != is || is && got != value {
		t.Errorf("%s: the value is %v, %t, %v; want %v, %t", what, got, ok, err, value, is)
	}
}

func TestAnAttributeIsOfTheCommunicatorAndAllItsHandles(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			kv, other := mpi.NewKeyval[string](nil, nil), mpi.NewKeyval[string](nil, nil)
			has(t, "at first", kv, c, "", false)
			ok(kv.Set(c, "one"))
			has(t, "another handle", kv, w.Comm(), "one", true)
			has(t, "another key", other, c, "", false)
			has(t, "another communicator", kv, w.Self(), "", false)
			ok(kv.Set(c.WithContext(t.Context()), "two"))
			has(t, "set again", kv, c, "two", true)
			d := get(c.Dup())
			has(t, "a duplicate without a copy function", kv, d, "", false)
			ok(kv.Delete(c))
			ok(kv.Delete(c))
			has(t, "deleted", kv, c, "", false)
			ok(d.Free())
		})
	})
}

func TestInterfacesThatAreNilAreValues(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		kv := mpi.NewKeyval(func(_ *mpi.Comm, e error) (error, bool, error) { return e, true, nil }, func(*mpi.Comm, error) error { return nil })
		ok(kv.Set(c, nil))
		has(t, "nil", kv, get(c.Dup()), nil, true)
		ok(kv.Delete(c))
	})
}

// The copy functions run in Dup, in the order of the attributes, and decide.
func TestDupCopiesWhatTheKeyvalsCopy(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var calls []string
			key := func(name string, takes bool) *mpi.Keyval[int] {
				return mpi.NewKeyval(func(of *mpi.Comm, v int) (int, bool, error) {
					if calls = append(calls, name); of != c {
						return 0, false, errors.New("the copy function gets another communicator")
					}
					return v + 1, takes, nil
				}, nil)
			}
			a, b, n := key("a", true), key("b", false), mpi.NewKeyval[int](nil, nil)
			for _, kv := range []*mpi.Keyval[int]{a, n, b} {
				ok(kv.Set(c, 10))
			}
			d := get(c.Dup())
			has(t, "a", a, d, 11, true)
			has(t, "b", b, d, 0, false)
			has(t, "n", n, d, 0, false)
			has(t, "a of the parent", a, c, 10, true)
			if !slices.Equal(calls, []string{"a", "b"}) {
				t.Errorf("the copy functions were called: %v", calls)
			}
		})
	})
}

// A failure of one rank is that of all, and leaves the communicator usable.
func TestACopyThatFailsFailsDup(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var deleted []int
			errCopy := errors.New("no more of these")
			first := mpi.NewKeyval(func(_ *mpi.Comm, v int) (int, bool, error) { return v + 1, true, nil },
				func(of *mpi.Comm, v int) error {
					if deleted = append(deleted, v); v == 2 && of != c && c.Rank() == 1 {
						return errors.New("the delete function gets another communicator")
					}
					return nil
				})
			second := mpi.NewKeyval(func(*mpi.Comm, int) (int, bool, error) { return 0, false, errCopy }, nil)
			ok(first.Set(c, 1))
			if c.Rank() == 1 {
				ok(second.Set(c, 2))
			}
			d, err := c.Dup()
			if d != nil || !errors.Is(err, mpi.ErrOther) || c.Rank() == 1 && !errors.Is(err, errCopy) {
				t.Errorf("rank %d: Dup = %v, %v", c.Rank(), d, err)
			}
			if !slices.Equal(deleted, []int{2}) {
				t.Errorf("deleted %v", deleted)
			}
			ok(second.Delete(c))
			d, err = c.Dup()
			if c.Rank() == 1 {
				has(t, "after a failed Dup", first, d, 2, true)
				ok(err)
				return
			}
			ok(err)
		})
	})
}

func TestADeleteThatFailsLeavesTheValueAndTheCommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			errStays, fails := errors.New("it stays"), true
			var deleted []int
			record := func(_ *mpi.Comm, v int) error { deleted = append(deleted, v); return nil }
			under, over := mpi.NewKeyval(nil, record), mpi.NewKeyval(nil, record)
			kv := mpi.NewKeyval(nil, func(of *mpi.Comm, v int) error {
				if fails {
					return errStays
				}
				return record(of, v)
			})
			d := get(c.Dup())
			ok(under.Set(d, 1))
			ok(kv.Set(d, 2))
			ok(over.Set(d, 3))
			for what, err := range map[string]error{"Delete": kv.Delete(d), "Set": kv.Set(d, 4), "Free": d.Free(), "Free again": d.Free()} {
				if !errors.Is(err, errStays) || !strings.Contains(err.Error(), "delete function") {
					t.Errorf("%s: %v", what, err)
				}
			}
			has(t, "the value", kv, d, 2, true)
			has(t, "one that was set later", over, d, 0, false)
			has(t, "one that was set before", under, d, 1, true)
			ok(d.Barrier())
			ok(over.Set(d, 5))
			fails = false
			ok(d.Free())
			if !slices.Equal(deleted, []int{3, 5, 2, 1}) {
				t.Errorf("deleted in the order %v", deleted)
			}
		})
	})
}

// Self's attributes go in the first part of Finalize, the last one first; all else
// works meanwhile, at this rank and at those that have not come that far.
func TestFinalizeDeletesSelfsAttributesWhileCallsWork(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			var deleted []int
			record := func(s *mpi.Comm, v int) error {
				deleted = append(deleted, v)
				if s != w.Self() {
					return errors.New("the delete function gets another communicator")
				}
				got := make([]int, 1)
				if _, err := mpi.Sendrecv(c, []int{v}, 1-c.Rank(), 4, got, 1-c.Rank(), 4); err != nil || got[0] != v {
					return fmt.Errorf("the other rank has sent %d: %w", got[0], err)
				}
				return nil
			}
			a, b, kept := mpi.NewKeyval(nil, record), mpi.NewKeyval(nil, record), mpi.NewKeyval(nil, record)
			ok(a.Set(w.Self(), 1))
			ok(b.Set(w.Self(), 2))
			ok(kept.Set(c, 3))
			ok(a.Free())
			ok(w.Finalize())
			if !slices.Equal(deleted, []int{2, 1}) {
				t.Errorf("deleted in the order %v", deleted)
			}
		})
	})
}

func TestFinalizeTellsThatADeleteHasFailed(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		errStays := errors.New("it stays")
		ok(mpi.NewKeyval(nil, func(*mpi.Comm, int) error { return errStays }).Set(w.Self(), 1))
		if err := w.Finalize(); !errors.Is(err, errStays) {
			t.Errorf("Finalize: %v", err)
		}
		want(t, "Barrier", c.Barrier(), mpi.ErrComm)
	})
}

func TestAFreedKeyvalTakesNoValues(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var none *mpi.Keyval[int]
		kv := mpi.NewKeyval[int](nil, nil)
		ok(kv.Set(c, 1))
		ok(kv.Free())
		want(t, "Free again", kv.Free(), mpi.ErrKeyval)
		want(t, "Free of nil", none.Free(), mpi.ErrKeyval)
		want(t, "Set", kv.Set(c, 2), mpi.ErrKeyval)
		want(t, "Set of nil", none.Set(c, 2), mpi.ErrKeyval)
		has(t, "the value", kv, c, 1, true)
		ok(kv.Delete(c))
		has(t, "the value", kv, c, 1, false)
		d := get(c.Dup())
		ok(d.Free())
		want(t, "Set on a freed communicator", kv.Set(d, 1), mpi.ErrComm)
		_, _, err := kv.Get(d)
		want(t, "Get on a freed communicator", err, mpi.ErrComm)
	})
}

// A delete function that calls for its own attribute is told so and does not hang.
func TestADeleteFunctionMayCallButNotForItsOwn(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		d := get(c.Dup())
		var kv *mpi.Keyval[int]
		var within []error
		other := mpi.NewKeyval[int](nil, nil)
		kv = mpi.NewKeyval(nil, func(c *mpi.Comm, v int) error {
			has(t, "inside", kv, c, v, true)
			within = []error{kv.Set(c, 2), kv.Delete(c), c.Free(), other.Set(c, 1)}
			return nil
		})
		ok(kv.Set(d, 1))
		ok(d.Free())
		for i, err := range within {
			if err == nil {
				t.Errorf("call %d inside the delete function works", i)
			}
		}
		ok(kv.Set(c, 1))
		ok(kv.Delete(c))
		if within[3] != nil {
			t.Errorf("another attribute can't be set by a delete function: %v", within[3])
		}
	})
}

// Each value that is set by any goroutine is deleted once.
func TestManyGoroutinesSetOneAttribute(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		const n, rounds = 8, 100
		d := get(c.Dup())
		var set, deleted [n * rounds]atomic.Int32
		kv := mpi.NewKeyval(nil, func(_ *mpi.Comm, v int) error { deleted[v].Add(1); return nil })
		var wg sync.WaitGroup
		for g := range n {
			wg.Go(func() {
				for i := range rounds {
					if v := g*rounds + i; kv.Set(d, v) == nil {
						set[v].Add(1)
					}
				}
			})
		}
		wg.Wait()
		ok(d.Free())
		for v := range set {
			if set[v].Load() != deleted[v].Load() {
				t.Errorf("the value %d was set %d times and deleted %d times", v, set[v].Load(), deleted[v].Load())
			}
		}
	})
}
