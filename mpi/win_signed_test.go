package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// An operation compares its Buf with the elements that it names at the target, whatever
// elements the window has been made for.
func TestOperationsOnOtherElementsAreRefused(t *testing.T) {
	type pair struct {
		A int32
		B float32
	}
	const n = 6
	ways := map[string]func(w *mpi.Win, b mpi.Buf, count int, d *mpi.Datatype) error{
		"Put":  func(w *mpi.Win, b mpi.Buf, count int, d *mpi.Datatype) error { return w.Put(b, 1, 0, count, d) },
		"Rput": func(w *mpi.Win, b mpi.Buf, count int, d *mpi.Datatype) error { return wait(w.Rput(b, 1, 0, count, d)) },
		"Get":  func(w *mpi.Win, b mpi.Buf, count int, d *mpi.Datatype) error { return w.Get(b, 1, 0, count, d) },
		"Rget": func(w *mpi.Win, b mpi.Buf, count int, d *mpi.Datatype) error { return wait(w.Rget(b, 1, 0, count, d)) },
	}
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			win, pairs := get(mpi.WinAllocate[float64](c, n, mpi.WinOptions{})), get(mpi.TypeOf[pair]())
			zeros, ones := make([]int32, 2*n), slices.Repeat([]int32{1}, n)
			clear(win.Local())
			ok(c.Barrier())
			ok(win.LockAll())
			for _, x := range []struct {
				is, other string // what is here and there, if they differ
				here      mpi.Buf
				count     int
				there     *mpi.Datatype
			}{
				{"", "", mpi.Strided(zeros, n, 1, 2), n, mpi.TypeInt32},
				{"", "", mpi.OfStructs(make([]pair, 2)), 2, pairs},
				{"", "", mpi.As(mpi.Type2Int, zeros, n), 2 * n, mpi.TypeInt32},
				{"", "", mpi.As(mpi.TypePacked, zeros, 4*n), n, mpi.TypeInt32},
				{"", "", mpi.Of(zeros[:n]), 4 * n, mpi.TypePacked},
				{"", "", mpi.Buf{}, 0, mpi.TypeInt32},
				{"6 x int32", "6 x float32", mpi.Of(ones), n, mpi.TypeFloat32},
				{"6 x int32", "3 x float64", mpi.Of(ones), n / 2, mpi.TypeFloat64},
				{"4 x uint8", "4 x byte", mpi.As(mpi.TypeUint8, ones, 4), 4, mpi.TypeByte},
				{"1 x int32, 1 x float32", "2 x int32", mpi.As(pairs, ones, 1), 2, mpi.TypeInt32},
			} {
				for name, do := range ordered(ways) {
					if c.Rank() == 1 {
						continue
					}
					err, say := do(win.Win, x.here, x.count, x.there), fmt.Sprintf("origin has %s, the target takes %s: give", x.is, x.other)
					if strings.HasSuffix(strings.ToLower(name), "get") {
						say = fmt.Sprintf("the target has %s, origin takes %s: give", x.other, x.is)
					}
					var other *mpi.SignatureError
					switch {
					case x.is == "" && err == nil:
					case x.is == "", !errors.Is(err, mpi.ErrType), !errors.As(err, &other), !strings.Contains(err.Error(), say), other.Call != name || other.Rank != 1:
						stop(fmt.Errorf("%s of %q at %q: %w", name, x.is, x.other, err))
					}
				}
			}
			ok(win.Win.Accumulate(mpi.Sum, mpi.Strided(zeros, n, 1, 2), 1, 0, n, mpi.TypeInt32))
			ok(win.Win.GetAccumulate(mpi.NoOp, mpi.Buf{}, mpi.Of(make([]int32, n)), 1, 0, n, mpi.TypeInt32))
			ok(win.UnlockAll())
			ok(c.Barrier())
			if slices.Max(ones) != slices.Min(ones) || slices.Max(win.Local()) != 0 {
				stop(fmt.Errorf("here is %v, in the window %v", ones, win.Local()))
			}
			ok(win.Free())
		}, mpi.WithTypeChecks())
	})
}
