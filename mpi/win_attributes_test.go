package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestAWindowHasAttributesUntilItsFree(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			w, other := get(mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})), get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			var deleted []string
			stays := true
			first := mpi.NewWinKeyval(func(of *mpi.Win, v string) error {
				if of != w.Win {
					return errors.New("another window")
				}
				ok(of.Fence(mpi.NoSucceed)) // the window works until the last one is deleted
				deleted = append(deleted, v)
				return nil
			})
			last := mpi.NewWinKeyval(func(_ *mpi.Win, v int) error {
				deleted = append(deleted, fmt.Sprint(v))
				if stays {
					return errors.New("it stays")
				}
				return nil
			})
			ok(first.Set(w.Win, "one"))
			ok(last.Set(w.Win, 2))
			if v, is, err := first.Get(w.Win); v != "one" || !is || err != nil {
				t.Errorf("the value is %q, %t, %v", v, is, err)
			}
			if _, is, err := first.Get(other); is || err != nil {
				t.Errorf("another window has the attribute: %v", err)
			}
			ok(w.Lock(mpi.LockShared, c.Rank()))
			want(t, "Free in an epoch", w.Free(), mpi.ErrRMASync)
			ok(w.Unlock(c.Rank()))
			if deleted != nil {
				t.Errorf("a Free that was refused has deleted %q", deleted)
			}
			want(t, "Free with an attribute that stays", w.Free(), mpi.ErrOther)
			want(t, "Delete of it", last.Delete(w.Win), mpi.ErrOther)
			ok(first.Set(w.Win, "two"))
			ok(first.Free())
			want(t, "Set with a freed key", first.Set(w.Win, "three"), mpi.ErrKeyval)
			want(t, "a second Free of the key", first.Free(), mpi.ErrKeyval)
			stays, deleted = false, nil
			ok(w.Free())
			if !slices.Equal(deleted, []string{"two", "2"}) {
				t.Errorf("Free has deleted %q", deleted)
			}
			want(t, "Set on a freed window", last.Set(w.Win, 1), mpi.ErrWin)
			_, _, err := last.Get(w.Win)
			want(t, "Get on a freed window", err, mpi.ErrWin)
			want(t, "Delete on no window", last.Delete(nil), mpi.ErrWin)
			ok(other.Free())
		})
	})
}

// While one goroutine frees a window, its attributes do not change, and no other one
// frees it.
func TestOneGoroutineFreesAWindow(t *testing.T) {
	act(t, "mem", 1, func(_ *mpi.World, c *mpi.Comm) {
		w := get(mpi.WinAllocate[int64](c, 1, mpi.WinOptions{}))
		other := mpi.NewWinKeyval[int](nil)
		key := mpi.NewWinKeyval(func(w *mpi.Win, _ int) error {
			want(t, "Free in Free", w.Free(), mpi.ErrWin)
			want(t, "Set in Free", other.Set(w, 1), mpi.ErrWin)
			return nil
		})
		ok(key.Set(w.Win, 1))
		ok(w.Free())
	})
}

func TestAWindowTellsHowItWasMade(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			wins := map[mpi.WinFlavor]*mpi.Win{
				mpi.FlavorCreate:   get(mpi.WinCreate(c, make([]int32, 3+c.Rank()), mpi.WinOptions{})).Win,
				mpi.FlavorAllocate: get(mpi.WinAllocate[int32](c, 3+c.Rank(), mpi.WinOptions{DispUnit: 2})).Win,
				mpi.FlavorDynamic:  get(mpi.WinCreateDynamic(c, mpi.WinOptions{})),
			}
			for f, w := range byFlavor(wins) {
				size, unit := 12+4*c.Rank(), 4
				switch f {
				case mpi.FlavorAllocate:
					unit = 2
				case mpi.FlavorDynamic:
					size, unit = 0, 1
				}
				if w.Flavor() != f || w.Model() != mpi.WinUnified || w.Size() != size || w.DispUnit() != unit {
					t.Errorf("%v: %v, %v, %d bytes in units of %d", f, w.Flavor(), w.Model(), w.Size(), w.DispUnit())
				}
				if g := w.Group(); get(g.Compare(c.Group())) != mpi.Ident {
					t.Errorf("%v: the group is %v", f, g)
				}
				ok(w.SetName("halo"))
				want(t, "a name with a zero", w.SetName("a\x00"), mpi.ErrArg)
				if w.Name() != "halo" || c.Name() == "halo" {
					t.Errorf("%v: the names are %q and %q", f, w.Name(), c.Name())
				}
				text := w.Explain()
				for _, part := range []string{`the window "halo" of 2 ranks by ` + f.String(), fmt.Sprintf("to rank %d: ", c.Rank()), fmt.Sprintf("to rank %d: ", 1-c.Rank()), "locks by "} {
					if !strings.Contains(text, part) {
						t.Errorf("Explain does not say %q:\n%s", part, text)
					}
				}
				way := map[string]string{"mem": "loads and stores, as this rank reaches the memory", "tcp": "packets for accumulates"}[fabric]
				if f == mpi.FlavorDynamic {
					way = "packets, as the library at the target"
				}
				if !strings.Contains(text, way) {
					t.Errorf("Explain does not say %q:\n%s", way, text)
				}
				ok(w.Free())
				if w.Explain() != "" {
					t.Error("a freed window explains itself")
				}
				checkBad(t, badCall{"Flush of a freed window", w.Flush(0), mpi.ErrWin, `the window "halo" has been freed`})
			}
		})
	})
}

// byFlavor are the windows in the order of their flavors, which is the same on all ranks.
func byFlavor(wins map[mpi.WinFlavor]*mpi.Win) func(func(mpi.WinFlavor, *mpi.Win) bool) {
	return func(yield func(mpi.WinFlavor, *mpi.Win) bool) {
		for f := mpi.FlavorCreate; f <= mpi.FlavorShared; f++ {
			if w := wins[f]; w != nil && !yield(f, w) {
				return
			}
		}
	}
}

func TestAWindowKeepsItsHintsAndObeysThem(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			info := get(mpi.NewInfo("no_locks", "true", "unknown", "x", "accumulate_ordering", "raw,waw", "mpi_accumulate_granularity", "8"))
			w := get(mpi.WinAllocate[int32](c, 1, mpi.WinOptions{Info: info}))
			if got := get(w.Info()).Keys(); !slices.Equal(got, []string{"no_locks", "accumulate_ordering", "mpi_accumulate_granularity"}) {
				t.Errorf("the window has the hints %q", got)
			}
			me := c.Rank()
			checkBad(t, badCall{"LockAll", w.LockAll(mpi.NoCheck), mpi.ErrRMASync, "no_locks"},
				badCall{"Lock", w.Lock(mpi.LockExclusive, me), mpi.ErrRMASync, "no_locks"},
				badCall{"Epoch", w.Epoch(mpi.LockShared, me, func() error { return nil }), mpi.ErrRMASync, "no_locks"})
			ok(w.Fence())
			ok(w.Put([]int32{1}, 1-me, 0))
			ok(w.Fence(mpi.NoSucceed))
			for _, bad := range [][2]string{
				{"no_locks", "yes"}, {"same_size", ""}, {"same_disp_unit", "1"}, {"alloc_shared_noncontig", "TRUE"}, {"accumulate_ops", "any"},
				{"accumulate_ordering", "rar,none"}, {"accumulate_ordering", ""}, {"mpi_accumulate_granularity", "-1"}, {"mpi_accumulate_granularity", "8 bytes"},
			} {
				err := w.SetInfo(get(mpi.NewInfo("no_locks", "false", bad[0], bad[1])))
				checkBad(t, badCall{bad[0], err, mpi.ErrInfoValue, fmt.Sprintf("%s is %q: it is ", bad[0], bad[1])})
			}
			if v, _ := get(w.Info()).Get("no_locks"); v != "true" {
				t.Error("a SetInfo that failed has changed a hint")
			}
			ok(w.SetInfo(get(mpi.NewInfo("no_locks", "false", "accumulate_ops", "same_op_no_op", "accumulate_ordering", "none", "same_size", "true", "alloc_shared_noncontig", "true"))))
			if got := get(w.Info()); got.Len() != 5 {
				t.Errorf("the window has the hints %q", got.Keys())
			}
			ok(w.SetInfo(nil))
			ok(w.LockAll())
			ok(w.UnlockAll())
			ok(w.Free())
			want(t, "Info of a freed window", second(w.Info()), mpi.ErrWin)
			for _, apart := range []bool{false, true} {
				shared, err := mpi.WinAllocateShared[int64](c, 1, mpi.WinOptions{Info: hint("alloc_shared_noncontig", fmt.Sprint(apart))})
				if err == nil {
					_, is := get(shared.Info()).Get("alloc_shared_noncontig")
					if !is {
						t.Error("a shared window does not tell how it was made")
					}
					ok(shared.Free())
				} else {
					want(t, "WinAllocateShared", err, mpi.ErrRMAShared)
				}
			}
		})
	})
}
