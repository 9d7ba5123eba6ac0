package mpi_test

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/mpi"
)

// secret returns n bytes that the kernel gives to this process's own loads and
// stores only: no other process, device or kernel copy reaches them. Where the
// kernel has none it is plain memory.
func secret(t *testing.T, n int) []byte {
	t.Helper()
	fd, _, errno := unix.Syscall(unix.SYS_MEMFD_SECRET, unix.O_CLOEXEC, 0, 0)
	flags := unix.MAP_SHARED
	if errno != 0 {
		t.Logf("memfd_secret: %v; the memory is plain", errno)
		fd, flags = ^uintptr(0), unix.MAP_PRIVATE|unix.MAP_ANON
	} else {
		defer unix.Close(int(fd))
		if err := unix.Ftruncate(int(fd), int64(n)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := unix.Mmap(int(fd), 0, n, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return b
}

// A message comes whole from and into memory that no fabric reaches by itself.
func TestMessagesOfSecretMemory(t *testing.T) {
	const most = 1 << 20
	onEach(t, func(t *testing.T, fabric string) {
		var memory [2][]byte
		for i := range memory {
			memory[i] = secret(t, most)
		}
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for _, n := range []int{100, 10_000, 20_000, 64 << 10, 100_000, most} {
				content := make([]byte, n)
				for i := range content {
					content[i] = byte(i*7 + i>>8 + n)
				}
				other := 1 - c.Rank()
				mine := memory[c.Rank()][:n]
				for _, posted := range []bool{false, true} { // whether the receive is
					for sender := range 2 {
						if c.Rank() == sender {
							copy(mine, content)
							if posted {
								ok(mpi.Send[byte](c, nil, other, 2))
							}
							ok(mpi.Send(c, mine, other, 1))
							continue
						}
						clear(mine)
						if posted {
							r := get(mpi.Irecv(c, mine, other, 1))
							get(mpi.Recv[byte](c, nil, other, 2))
							get(mpi.Wait(&r))
						} else {
							get(mpi.Recv(c, mine, other, 1))
						}
						if !bytes.Equal(mine, content) {
							t.Errorf("a message of %d bytes, posted=%t, has changed", n, posted)
						}
					}
				}
			}
		})
	})
}
