package shm

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/fabric"
	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

// newArena makes one of its own, so that a test sees its whole state.
func newArena(t interface{ Fatal(...any) }) *Arena {
	fd, err := unix.MemfdCreate("test-arena", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	return &Arena{file: fd, live: map[int]allocation{}}
}

func (a *Arena) discard() {
	if a.base != nil {
		unix.Munmap(a.base)
	}
	unix.Close(a.file)
}

func TestTheArenaGivesZeroedMemoryThatNobodyElseHas(t *testing.T) {
	page := os.Getpagesize()
	rapid.Check(t, func(t *rapid.T) {
		a := newArena(t)
		defer a.discard()
		type grant struct {
			b    []byte
			mark byte
		}
		var live []grant
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "free") > 0 {
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				g := live[i]
				live = append(live[:i], live[i+1:]...)
				for k := range g.b {
					if g.b[k] != g.mark {
						t.Fatalf("byte %d was written to by somebody else", k)
					}
				}
				b := g.b
				if rapid.Bool().Draw(t, "shorter") {
					b = b[:len(b)/2]
				}
				if err := a.release(b); err != nil {
					t.Fatal(err)
				}
				if err := a.release(b); !errors.Is(err, ErrNotArena) {
					t.Fatalf("second release: %v", err)
				}
			} else {
				n := rapid.SampledFrom([]int{0, 1, 100, page - 1, page, page + 1, 3 * page, 10*page + 7}).Draw(t, "n")
				b, err := a.alloc(n)
				if err != nil {
					t.Fatal(err)
				}
				if len(b) != n || cap(b)%page != 0 || cap(b) < n {
					t.Fatalf("alloc(%d) has length %d and capacity %d", n, len(b), cap(b))
				}
				b = b[:cap(b)]
				if off, ok := a.offset(b); !ok || off%uint64(page) != 0 {
					t.Fatalf("the arena knows its own memory as %d, %t", off, ok)
				}
				mark := byte(step + 1)
				for k := range b {
					if b[k] != 0 {
						t.Fatalf("byte %d of fresh memory is %d", k, b[k])
					}
					b[k] = mark
				}
				live = append(live, grant{b, mark})
			}
			// Free spans are sorted, apart, and together with what is live make up
			// the file.
			sum := 0
			for _, l := range a.live {
				sum += l.size
			}
			for i, s := range a.free {
				sum += s.n
				if s.n <= 0 || i > 0 && a.free[i-1].off+a.free[i-1].n >= s.off {
					t.Fatalf("free spans %v", a.free)
				}
			}
			if sum != a.size {
				t.Fatalf("%d bytes live or free of %d", sum, a.size)
			}
		}
		for _, g := range live {
			if err := a.release(g.b); err != nil {
				t.Fatal(err)
			}
		}
		if a.size > 0 && (len(a.free) != 1 || a.free[0] != (span{0, a.size})) {
			t.Fatalf("after all is free: %v of %d", a.free, a.size)
		}
		var st unix.Stat_t
		if err := unix.Fstat(a.file, &st); err != nil || st.Blocks != 0 {
			t.Fatalf("after all is free the file has %d blocks, %v", st.Blocks, err)
		}
	})
}

func TestTheArenaRefusesSizesThatCannotBe(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	for _, n := range []int{-1, math.MinInt, math.MaxInt, arenaSpace + 1, math.MaxInt - 4095} {
		if b, err := a.alloc(n); err == nil {
			t.Errorf("alloc(%d) = %d bytes", n, len(b))
		}
	}
	if a.size != 0 || len(a.live) != 0 {
		t.Errorf("the arena has grown to %d bytes", a.size)
	}
}

func TestTheArenaRefusesForeignMemory(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	foreign := [][]byte{nil, {}, make([]byte, 8192)}
	check := func() {
		t.Helper()
		for _, b := range foreign {
			if err := a.release(b); !errors.Is(err, ErrNotArena) {
				t.Errorf("release of %d foreign bytes: %v", len(b), err)
			}
			if _, ok := a.offset(b); ok {
				t.Errorf("%d foreign bytes are taken for the arena's", len(b))
			}
		}
	}
	check()
	b, err := a.alloc(3 * 4096)
	if err != nil {
		t.Fatal(err)
	}
	check()
	for _, part := range [][]byte{b[1:], b[4096:], b[len(b)-1:]} {
		if err := a.release(part); !errors.Is(err, ErrNotArena) {
			t.Errorf("release from the middle: %v", err)
		}
	}
	if err := a.release(b); err != nil {
		t.Error(err)
	}
}

// A peer's arena is mapped as far as it is asked for, and no further than it
// is long.
func TestAViewOfAnArenaEndsWithTheFile(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	b, err := a.alloc(2 * 4096)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[4096:], "seen")
	fd, err := unix.FcntlInt(uintptr(a.file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	v := &arenaView{fd: fd}
	defer v.close()
	if got, err := v.at(4096, 4); err != nil || string(got) != "seen" {
		t.Errorf("at(4096, 4) = %q, %v", got, err)
	}
	if got, err := v.at(8192, 0); err != nil || len(got) != 0 {
		t.Errorf("at(8192, 0) = %q, %v", got, err)
	}
	for _, c := range [][2]uint64{{8192, 1}, {8191, 2}, {0, 8193}, {1 << 63, 1}, {1<<64 - 1, 2}, {arenaSpace, 1}, {arenaSpace + 1, 0}, {4096, 1<<64 - 4096}} {
		if _, err := v.at(c[0], c[1]); !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("at(%d, %d): %v", c[0], c[1], err)
		}
	}
	more, err := a.alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	copy(more, "later")
	if got, err := v.at(8192, 5); err != nil || !bytes.Equal(got, []byte("later")) {
		t.Errorf("after growth: %q, %v", got, err)
	}
}
