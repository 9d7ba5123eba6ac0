package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// What has an argument that can't be is of the class for that, and changes nothing.
func TestCountsAndLimitsThatCannotBe(t *testing.T) {
	st := mpi.Status{Bytes: 7}
	count := func(n int) error { return mpi.SetCount[int64](&st, n) }
	for what, n := range ordered(map[string]int{"negative": -1, "one too many": math.MaxInt/8 + 1, "that overflow to few": math.MaxInt/2 + 2, "the most": math.MaxInt}) {
		want(t, "SetCount of elements, "+what, count(n), mpi.ErrCount)
		if n > 0 {
			want(t, "SetElements, "+what, st.SetElements(mpi.TypeInt64, n), mpi.ErrCount)
		}
	}
	if st.Bytes != 7 {
		t.Errorf("the status has %d bytes", st.Bytes)
	}
	if err := count(math.MaxInt / 8); err != nil || mpi.Count[int64](st) != math.MaxInt/8 || st.Elements(mpi.TypeInt64) != math.MaxInt/8 {
		t.Errorf("the most elements: %v, %+v", err, st)
	}
	for what, change := range ordered(map[string]func(l *mpi.Limits){
		"PeerMessages": func(l *mpi.Limits) { l.PeerMessages = -1 }, "Messages": func(l *mpi.Limits) { l.Messages = math.MinInt },
		"Stall": func(l *mpi.Limits) { l.Stall = -time.Second },
	}) {
		l := mpi.DefaultLimits
		change(&l)
		wantWords(t, what+" of Run", mpi.Run(2, func(*mpi.World) error { return errors.New("it ran") }, mpi.WithLimits(l)), mpi.ErrArg, what+" -")
	}
	// The text begins with the call that was made, and has no other.
	nowhere := filepath.Join(t.TempDir(), "no", "trace")
	for what, call := range ordered(map[string]func(o mpi.Option) error{
		"Run":         func(o mpi.Option) error { return mpi.Run(1, func(*mpi.World) error { return nil }, o) },
		"Init":        func(o mpi.Option) error { return second(mpi.Init(t.Context(), o)) },
		"NewSession":  func(o mpi.Option) error { return second(mpi.NewSession(t.Context(), o)) },
		"RunSessions": func(o mpi.Option) error { return mpi.RunSessions(1, func(context.Context) error { return nil }, o) },
	}) {
		bad, lost := call(mpi.WithLimits(mpi.Limits{Messages: -1})), call(mpi.WithTrace(nowhere))
		wantWords(t, what, bad, mpi.ErrArg, "Messages -1")
		for _, err := range []error{bad, lost} {
			if text := fmt.Sprint(err); !strings.HasPrefix(text, "mpi."+what+": ") || strings.Count(text, "mpi.") != 1 {
				t.Errorf("%s: %s", what, text)
			}
		}
	}
}

// windowCalls are those that make windows.
var windowCalls = map[string]func(c *mpi.Comm) (*mpi.Win, error){
	"WinCreate": func(c *mpi.Comm) (*mpi.Win, error) {
		w, err := mpi.WinCreate(c, make([]int64, 2), mpi.WinOptions{})
		return w.Win, err
	},
	"WinAllocate": func(c *mpi.Comm) (*mpi.Win, error) {
		w, err := mpi.WinAllocate[int64](c, 2, mpi.WinOptions{})
		return w.Win, err
	},
	"WinAllocateShared": func(c *mpi.Comm) (*mpi.Win, error) {
		w, err := mpi.WinAllocateShared[int64](c, 2, mpi.WinOptions{})
		return w.Win, err
	},
	"WinAllocateShared with Noncontiguous": func(c *mpi.Comm) (*mpi.Win, error) {
		w, err := mpi.WinAllocateShared[int64](c, 2, mpi.WinOptions{Noncontiguous: true})
		return w.Win, err
	},
	"WinCreateDynamic": func(c *mpi.Comm) (*mpi.Win, error) { return mpi.WinCreateDynamic(c, mpi.WinOptions{}) },
}

// Ranks that make different calls for a window are told so at once, and the communicator
// is as it was.
func TestRanksThatMakeDifferentWindowsAreTold(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			for most, call := range ordered(windowCalls) {
				for other, odd := range ordered(windowCalls) {
					if most == other {
						continue
					}
					make := call
					if c.Rank() == 1 {
						make = odd
					}
					err := second(make(c))
					wantWords(t, most+" and "+other, err, mpi.ErrNotSame, most)
					wantWords(t, most+" and "+other, err, mpi.ErrNotSame, other)
				}
			}
			w := get(mpi.WinAllocate[int64](c, 1, mpi.WinOptions{}))
			ok(w.Free())
		})
	})
}

// Memory without elements is attached and detached any number of times, and nothing of the
// window changes.
func TestMemoryWithoutElementsIsAttached(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			w := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			mine := make([]float64, 4*c.Rank()) // rank 0 has none
			at := get(mpi.Attach(w, mine))
			for _, empty := range [][]float64{nil, {}, mine[:0], nil} {
				if addr := get(mpi.Attach(w, empty)); addr != 0 {
					t.Errorf("nothing is at the address %#x", addr)
				}
			}
			places := make([]int, 3)
			ok(mpi.Allgather(c, []int{at}, places))
			ok(w.Fence())
			ok(mpi.Put(w, []float64{7}, 2, places[2]+8*c.Rank()))
			ok(w.Fence())
			if c.Rank() == 2 && !slices.Equal(mine[:3], []float64{7, 7, 7}) {
				t.Errorf("the memory has %v", mine)
			}
			for _, empty := range [][]float64{nil, {}, mine[:0], nil, {}} {
				ok(mpi.Detach(w, empty))
			}
			ok(mpi.Detach(w, mine))
			if err := mpi.Detach(w, mine); (c.Rank() == 0) != (err == nil) {
				t.Errorf("a second Detach: %v", err)
			}
			ok(w.Free())
		})
	})
}

// Buffers of one call that may not overlap and do are ErrBuffer; those beside each other
// are fine, and so are those of which one is not used.
func TestBuffersThatOverlapAreRefused(t *testing.T) {
	act(t, "mem", 1, func(_ *mpi.World, c *mpi.Comm) {
		b, x := make([]int64, 12), new(int64)
		column := get(mpi.TypeVector(3, 1, 4, mpi.TypeInt64))
		ok(column.Commit())
		w := get(mpi.WinAllocate[int64](c, 3, mpi.WinOptions{}))
		ok(w.Lock(mpi.LockExclusive, 0))
		v := w.Win
		type two struct{ s, r []int64 }
		type bufs struct{ s, r mpi.Buf }
		slicesOf := map[string]func(two) error{
			"Sendrecv":       func(p two) error { return second(mpi.Sendrecv(c, p.s, 0, 0, p.r, 0, 0)) },
			"Isendrecv":      func(p two) error { return wait(mpi.Isendrecv(c, p.s, 0, 0, p.r, 0, 0)) },
			"GetAccumulate":  func(p two) error { return mpi.GetAccumulate(v, mpi.Sum, p.s, p.r, 0, 0) },
			"RgetAccumulate": func(p two) error { return wait(mpi.RgetAccumulate(v, mpi.Sum, p.s, p.r, 0, 0)) },
			"FetchAndOp":     func(p two) error { return mpi.FetchAndOp(v, mpi.Sum, &p.s[0], &p.r[len(p.r)-len(p.s)], 0, 0) },
			"CompareAndSwap": func(p two) error { return mpi.CompareAndSwap(v, x, &p.s[0], &p.r[len(p.r)-len(p.s)], 0, 0) },
		}
		for name, call := range ordered(slicesOf) {
			want(t, name+" of one buffer", call(two{b[:2], b[:2]}), mpi.ErrBuffer)
			if ok(call(two{b[:2], b[2:4]})); name != "FetchAndOp" && name != "CompareAndSwap" {
				want(t, name+" of buffers that have an element in common", call(two{b[:2], b[1:3]}), mpi.ErrBuffer)
			}
			ok(v.FlushAll())
		}
		bufsOf := map[string]func(bufs) error{
			"Sendrecv":      func(p bufs) error { return second(c.Sendrecv(p.s, 0, 0, p.r, 0, 0)) },
			"Isendrecv":     func(p bufs) error { return wait(c.Isendrecv(p.s, 0, 0, p.r, 0, 0)) },
			"GetAccumulate": func(p bufs) error { return v.GetAccumulate(mpi.Sum, p.s, p.r, 0, 0, 3, mpi.TypeInt64) },
			"RgetAccumulate": func(p bufs) error {
				return wait(v.RgetAccumulate(mpi.Sum, p.s, p.r, 0, 0, 3, mpi.TypeInt64))
			},
		}
		for name, call := range ordered(bufsOf) {
			first := mpi.As(column, b, 1)
			want(t, name+" of one Buf", call(bufs{mpi.Of(b[:3]), mpi.Of(b[:3])}), mpi.ErrBuffer)
			want(t, name+" of one column", call(bufs{first, first}), mpi.ErrBuffer)
			want(t, name+" of a column and a row", call(bufs{first, mpi.Of(b[4:7])}), mpi.ErrBuffer)
			want(t, name+" of a row and a column", call(bufs{mpi.Of(b[2:5]), first}), mpi.ErrBuffer)
			ok(call(bufs{first, mpi.As(column, b[1:], 1)}))
			ok(call(bufs{first, mpi.Of(b[5:8])}))
			ok(v.FlushAll())
		}
		one := mpi.Of(b[:1])
		want(t, "FetchAndOp of a Buf", v.FetchAndOp(mpi.Sum, one, one, 0, 0), mpi.ErrBuffer)
		want(t, "CompareAndSwap of a Buf", v.CompareAndSwap(mpi.Of(b[1:2]), one, one, 0, 0), mpi.ErrBuffer)
		ok(mpi.FetchAndOp(v, mpi.NoOp, &b[0], &b[0], 0, 0)) // its origin is not used
		ok(v.FetchAndOp(mpi.NoOp, one, one, 0, 0))
		get(mpi.Sendrecv(c, b, mpi.ProcNull, 0, b, mpi.ProcNull, 0))
		get(c.Sendrecv(mpi.Of(b), mpi.ProcNull, 0, mpi.Of(b), mpi.ProcNull, 0))
		ok(w.Unlock(0))
		ok(w.Free())
	})
}
