package mpi_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// Messages above 4 GB, of more than 2³¹ elements. The sender's memory is sparse:
// but for a few pages it is the kernel's page of zeros.
const (
	bigElements = 1<<31 + 1000
	bigBytes    = 2 * bigElements
)

// onBig runs a test on the fabrics that take memory as it is. Others register
// it, which makes pages of it.
func onBig(t *testing.T, f func(t *testing.T, fabric string)) {
	for _, fabric := range []string{"mem", "shm"} {
		t.Run(fabric, func(t *testing.T) { f(t, fabric) })
	}
}

// sparse is n bytes of zeros that take memory only where they are written to.
func sparse(t *testing.T, n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Skipf("this machine gives no %d bytes of address space: %v", n, err)
	}
	unix.Madvise(b, unix.MADV_HUGEPAGE) // a million page faults less, if the kernel likes
	t.Cleanup(func() { unix.Munmap(b) })
	return b
}

// needMemory skips the test where n bytes can't be had.
func needMemory(t *testing.T, n uint64) {
	t.Helper()
	tier.Long(t, "it takes gigabytes of memory")
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		t.Skipf("can't tell how much memory there is: %v", err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb uint64
		if !strings.HasPrefix(s.Text(), "MemAvailable:") {
			continue
		}
		if fmt.Sscanf(s.Text(), "MemAvailable: %d kB", &kb); kb*1024 < n {
			t.Skipf("needs %d MB of memory, %d are available", n>>20, kb>>10)
		}
		return
	}
	t.Skip("can't tell how much memory is available")
}

// marks are the elements that are not zero: at the ends, and where 32 bits or
// the kernel's limit of one call end.
var marks = []int{0, 1, 4095, 1<<30 - 1, 1 << 30, 1<<30 + 1, 0x7ffff000/2 - 1, 0x7ffff000 / 2,
	1<<31 - 1, 1 << 31, 1<<31 + 1, bigElements - 2, bigElements - 1}

func TestAMessageOfMoreThan4GBComesWhole(t *testing.T) {
	needMemory(t, 2*bigBytes)
	onBig(t, func(t *testing.T, fabric string) {
		sendBig(t, fabric, 0, func(c *mpi.Comm, out []uint16) error { return mpi.Send(c, out, 1, 1) })
	})
}

func TestABufOfMoreThan4GBComesWhole(t *testing.T) {
	needMemory(t, 2*bigBytes)
	onBig(t, func(t *testing.T, fabric string) {
		const block = 8
		sendBig(t, fabric, block, func(c *mpi.Comm, out []uint16) error {
			return c.Send(mpi.Strided(out, bigElements/block, block, block+1), 1, 1)
		})
	})
}

// sendBig sends bigElements from memory that has an element more, which is not sent, behind
// each block of so many, or none if block is 0.
func sendBig(t *testing.T, fabric string, block int, send func(c *mpi.Comm, out []uint16) error) {
	place, bytes := func(i int) int { return i }, bigBytes
	if block > 0 {
		place = func(i int) int { return i + i/block }
		bytes += bigBytes / block
	}
	out := asShorts(sparse(t, bytes))
	room := sparse(t, bigBytes)
	unix.Madvise(room, unix.MADV_POPULATE_WRITE) // which takes long, before the clock of the test runs
	in := asShorts(room)
	wanted := map[int]uint16{}
	for i, at := range marks {
		out[place(at)] = uint16(i + 1)
		for near := max(at-2, 0); near < min(at+3, bigElements); near++ {
			wanted[near] = 0
		}
		if block > 0 {
			out[place(at-at%block)+block] = 0xffff
		}
	}
	for at := range wanted {
		wanted[at] = out[place(at)]
	}
	act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
		if c.Rank() == 0 {
			ok(send(c, out))
			return
		}
		at := get(mpi.Probe(c, 0, 1))
		st := get(mpi.Recv(c, in, 0, 1))
		if at != st || mpi.Count[uint16](st) != bigElements || mpi.Count[byte](st) != bigBytes || st.Bytes != bigBytes {
			t.Errorf("%d elements: probed %+v, received %+v", bigElements, at, st)
		}
		for at, v := range wanted {
			if in[at] != v {
				t.Errorf("element %d is %d, want %d", at, in[at], v)
			}
		}
	})
}

// Of a message longer than the memory of any machine its beginning is received,
// and its length told.
func TestAHugeMessageIsTruncatedAndItsLengthTold(t *testing.T) {
	const n = 1 << 40
	onBig(t, func(t *testing.T, fabric string) {
		out := sparse(t, n)
		copy(out, pattern(long, 1))
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 0 {
				ok(mpi.Send(c, out, 1, 1))
				get(mpi.Wait(begin(mpi.Issend(c, out[5:], 1, 1))))
				return
			}
			in := make([]byte, long)
			for i := range 2 {
				m, at, err := mpi.Mprobe(c, 0, 1)
				ok(err)
				clear(in)
				var st mpi.Status
				if i == 0 {
					st, err = mpi.Mrecv(&m, in)
					if differs(in, 1) >= 0 {
						t.Error("the beginning has other bytes")
					}
				} else {
					st, err = mpi.Mrecv(&m, in[:0])
				}
				want(t, "Mrecv", err, mpi.ErrTruncate)
				if at != st || mpi.Count[byte](st) != n-5*i || mpi.Count[uint64](at) != []int{n / 8, mpi.Undefined}[i] {
					t.Errorf("probed %+v, received %+v of %d bytes", at, st, n-5*i)
				}
			}
		})
	})
}
