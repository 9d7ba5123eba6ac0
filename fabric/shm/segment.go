package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// memfdCreate and fallocate are variables so that tests can refuse them.
var (
	memfdCreate = unix.MemfdCreate
	fallocate   = unix.Fallocate
)

// newSegment makes a sealed memfd of size bytes whose pages are reserved, so
// that a full machine is an error here and not a SIGBUS later, and maps it.
func newSegment(name string, size int) (fd int, mem []byte, err error) {
	fd, err = memfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, nil, &fabric.Error{Op: "create shared memory " + name, Err: err,
			Remedy: "allow memfd_create (a seccomp profile may refuse it) and check the limit on open files"}
	}
	if err = reserve(fd, 0, int64(size)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		mem, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, fmt.Errorf("shared memory %s of %d bytes: %w", name, size, err)
	}
	return fd, mem, nil
}

// reserve gives a range of a memfd its pages.
func reserve(fd int, off, n int64) error {
	for {
		err := fallocate(fd, 0, off, n)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM) {
			return &fabric.Error{Op: "reserve shared memory", Err: err,
				Remedy: "free memory or raise the memory limit of the container"}
		}
		return err
	}
}

// mapSegment maps a segment that a peer handed over. Only a file that can't
// shrink is accepted: reading past the end of one that did would kill us.
func mapSegment(fd, size int, prot int) ([]byte, error) {
	if err := checkSealed(fd); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("stat peer segment: %w", err)
	}
	if st.Size != int64(size) {
		return nil, fmt.Errorf("peer segment has %d bytes, not %d", st.Size, size)
	}
	mem, err := unix.Mmap(fd, 0, size, prot, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map peer segment: %w", err)
	}
	return mem, nil
}

func checkSealed(fd int) error {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return fmt.Errorf("peer segment is not a memfd: %w", err)
	}
	if seals&unix.F_SEAL_SHRINK == 0 {
		return errors.New("peer segment is not sealed against shrinking")
	}
	return nil
}
