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
	return &Arena{file: fd, live: map[uintptr]allocation{}}
}

func (a *Arena) discard() {
	if p := a.pieces.Load(); p != nil {
		for _, p := range *p {
			unix.Munmap(p.mem)
		}
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
		pieces := 0
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
				if rapid.IntRange(0, 9).Draw(t, "piece") == 0 {
					if err := a.grow(20 * page); err != nil {
						t.Fatal(err)
					}
					pieces++
				}
				had := a.end
				b, err := a.alloc(n)
				if a.end > had {
					pieces++
				}
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
			// the pieces.
			sum := 0
			for _, l := range a.live {
				sum += len(l.mem)
			}
			for i, s := range a.free {
				sum += s.n
				if s.n <= 0 || i > 0 && (a.free[i-1].off+a.free[i-1].n > s.off || a.adjacent(i-1)) {
					t.Fatalf("free spans %v", a.free)
				}
			}
			if sum != a.end {
				t.Fatalf("%d bytes live or free of %d", sum, a.end)
			}
		}
		for _, g := range live {
			if err := a.release(g.b); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.free) != pieces {
			t.Fatalf("after all is free: %v of %d", a.free, a.end)
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
	for _, n := range []int{-1, math.MinInt, math.MaxInt, int(installed()) + 1, math.MaxInt - 4096} {
		if b, err := a.alloc(n); err == nil {
			t.Errorf("alloc(%d) = %d bytes", n, len(b))
		}
	}
	if a.end != 0 || len(a.live) != 0 {
		t.Errorf("the arena has grown to %d bytes", a.end)
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
	v := &arenaView{fd: duplicate(t, a.file)}
	defer v.close()
	if got, err := v.at(4096, 4); err != nil || string(got) != "seen" {
		t.Errorf("at(4096, 4) = %q, %v", got, err)
	}
	if got, err := v.at(8192, 0); err != nil || len(got) != 0 {
		t.Errorf("at(8192, 0) = %q, %v", got, err)
	}
	for _, c := range [][2]uint64{{8192, 1}, {8191, 2}, {0, 8193}, {1 << 63, 1}, {1<<64 - 1, 2}, {firstPiece, 1}, {firstPiece + 1, 0}, {4096, 1<<64 - 4096}} {
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

// A range keeps its address when the file outgrows the mapping, and each is seen at once.
func TestAViewOfAnArenaKeepsAddresses(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	v := &arenaView{fd: duplicate(t, a.file)}
	defer v.close()
	var seen, memory [][]byte
	for i, n := range []int{4096, firstPiece, 4096, 3 * firstPiece, 4096} {
		b, err := a.allocMapped(n)
		if err != nil {
			t.Fatal(err)
		}
		off, _ := a.offset(b)
		got, err := v.at(off, uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		seen, memory = append(seen, got), append(memory, b)
		for j, got := range seen {
			off, _ := a.offset(memory[j])
			again, err := v.at(off, uint64(len(got)))
			memory[j][len(got)-1]++
			if err != nil || &again[0] != &got[0] || again[len(got)-1] != memory[j][len(got)-1] {
				t.Fatalf("after %d allocations the %d. is at another place, or is other memory: %v", i+1, j+1, err)
			}
		}
	}
	if n := len(*a.pieces.Load()); n < 3 {
		t.Errorf("all was in %d pieces", n)
	}
}

// Below a limit on address space a view takes little more than the file, and leaves the
// program a quarter.
func TestAViewOfAnArenaTakesLittleOfALimit(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	limit := 256 << 30
	instead(t, &addressLimit, func() int { return limit })
	v := &arenaView{fd: duplicate(t, a.file)}
	defer v.close()
	const n = 1 << 30 / 4 * 16 // as a unit of the views
	taken := func() (all int) {
		for _, m := range *v.maps.Load() {
			all += len(m.mem)
		}
		return all
	}
	for i := 1; i <= 8; i++ { // the file has holes: only its length counts
		if err := unix.Ftruncate(a.file, int64(i*n)); err != nil {
			t.Fatal(err)
		}
		if _, err := v.at(uint64((i-1)*n+4096), 1<<20); err != nil {
			t.Fatal(err)
		}
		if _, err := v.at(uint64(i*n-4096), 4096); err != nil {
			t.Fatal(err)
		}
		if got := taken(); got > i*n+n {
			t.Fatalf("a file of %d bytes has mappings of %d", i*n, got)
		}
	}
	limit = addressesTaken()/3*4 + 1<<20
	if err := unix.Ftruncate(a.file, 9*n); err != nil {
		t.Fatal(err)
	}
	if _, err := v.at(8*n, 2<<20); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("where three quarters are taken: %v", err)
	}
}

// Free pieces give their addresses back where there are no others, and what is used then is
// memory that peers map.
func TestAnArenaGivesFreePiecesBack(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	var kept []byte
	for range 3 {
		if err := a.grow(1 << 20); err != nil {
			t.Fatal(err)
		}
		if b, err := a.alloc(4096); err != nil {
			t.Fatal(err)
		} else if kept == nil {
			kept = b
		} else if err := a.release(b); err != nil {
			t.Fatal(err)
		}
	}
	if !a.shrink() || a.shrink() {
		t.Error("the pieces that are free are given back, and once")
	}
	kept[0] = 1
	b, err := a.alloc(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] = 1
	for _, b := range [][]byte{kept, b} {
		if _, ok := a.offset(b); !ok {
			t.Error("memory is not mapped any more")
		}
		if err := a.release(b); err != nil {
			t.Error(err)
		}
	}
}

// What an arena can hold is bounded by memory only, not by addresses taken beforehand.
func TestAnArenaGoesBeyondAnyReservation(t *testing.T) {
	a := newArena(t)
	defer a.discard()
	for range 2 { // two pieces of 64 GiB; the second is used
		if err := a.grow(1 << 36); err != nil {
			if addressLimit() < 1<<38 {
				t.Skip(err)
			}
			t.Fatal(err)
		}
	}
	a.free = a.free[1:]
	b, err := a.alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "far")
	v := &arenaView{fd: duplicate(t, a.file)}
	defer v.close()
	if got, err := v.at(1<<36, 3); err != nil || string(got) != "far" {
		t.Errorf("%q, %v", got, err)
	}
}

// Where the system refuses what mapped memory needs, there is ordinary memory, for
// all but a machine that has no more.
func TestWithoutMappedMemoryThereIsOrdinaryMemory(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, a *Arena)
		mapped  bool
	}{
		"no memfd_create": {func(t *testing.T, a *Arena) { a.file, a.why = -1, unix.EPERM }, false},
		"no fallocate": {func(t *testing.T, a *Arena) {
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.ENOSYS })
		}, true},
		"no fallocate and no madvise": {func(t *testing.T, a *Arena) {
			instead(t, &populates, func() bool { return false })
			instead(t, &madvise, func([]byte, int) error { return unix.EPERM })
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.EOPNOTSUPP })
		}, true},
		"a file that can't be longer": {func(t *testing.T, a *Arena) {
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.EFBIG })
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t)
			file := a.file
			defer func() { a.file = file; a.discard() }()
			c.prepare(t, a)
			for range 2 {
				b, err := a.alloc(10_000)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := a.offset(b); ok != c.mapped {
					t.Errorf("memory that peers map: %t, want %t", ok, c.mapped)
				}
				if why := a.live[uintptr(addressOf(b))].apart; (why == nil) != c.mapped {
					t.Errorf("peers can't map it, since: %v", why)
				}
				for i := range b[:cap(b)] {
					if b[:cap(b)][i]++; b[:cap(b)][i] != 1 {
						t.Fatalf("byte %d of fresh memory is %d", i, b[:cap(b)][i]-1)
					}
				}
				if err := a.release(b[:5000:5000]); err != nil {
					t.Fatal(err)
				}
				if err := a.release(b); !errors.Is(err, ErrNotArena) {
					t.Errorf("second release: %v", err)
				}
			}
			if a.held.Load() != 0 || len(a.order) != 0 {
				t.Errorf("%d bytes are held", a.held.Load())
			}
		})
	}
}

func duplicate(t *testing.T, file int) int {
	fd, err := unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}
