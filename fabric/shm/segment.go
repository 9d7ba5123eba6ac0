package shm

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// memfdCreate, fallocate and madvise are variables so that tests can refuse them.
var (
	memfdCreate = unix.MemfdCreate
	fallocate   = unix.Fallocate
	madvise     = unix.Madvise
)

// newSegment makes a sealed memfd of size bytes and maps it. The pages of the
// first backed bytes are reserved, so that a full machine is an error here and
// not a SIGBUS later; those behind are to be populated before they are touched.
func newSegment(name string, size, backed int) (fd int, mem []byte, err error) {
	fd, err = memfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, nil, &fabric.Error{Op: "create shared memory " + name, Err: err,
			Remedy: "allow memfd_create (a seccomp profile may refuse it) and check the limit on open files"}
	}
	if !populates() {
		backed = size
	}
	if backed == size {
		err = reserve(fd, 0, int64(size))
	} else { // mapBacked reserves
		err = unix.Ftruncate(fd, int64(size))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		mem, err = mapBacked(fd, size, backed, unix.PROT_READ|unix.PROT_WRITE)
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
			return noMemory(err)
		}
		return err
	}
}

func noMemory(err error) error {
	return &fabric.Error{Op: "reserve shared memory", Err: err,
		Remedy: "free memory or raise the memory limit of the container"}
}

// populates reports whether the kernel gives a range of a mapping its pages on
// request, as Linux does since 5.14 (madvise(2), MADV_POPULATE_WRITE). Where it
// does not, segments are reserved and mapped whole. It is a variable so that tests
// can be such a kernel.
var populates = sync.OnceValue(func() bool {
	mem, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer unix.Munmap(mem)
	return unix.Madvise(mem, unix.MADV_POPULATE_WRITE) == nil
})

// populate gives a part of a mapped segment its pages, in the file and in the
// mapping. It begins where the mapping does.
func populate(mem []byte) error {
	if !populates() {
		return nil
	}
	for {
		err := madvise(mem, unix.MADV_POPULATE_WRITE)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EFAULT): // what would be a SIGBUS for who touches it
			err = unix.ENOSPC
			fallthrough
		case errors.Is(err, unix.ENOMEM):
			return noMemory(err)
		}
		return err
	}
}

// mapBacked maps a segment whose first backed bytes are used from now on.
func mapBacked(fd, size, backed, prot int) ([]byte, error) {
	if backed == size {
		return unix.Mmap(fd, 0, size, prot, unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	mem, err := unix.Mmap(fd, 0, size, prot, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	if err = populate(mem[:backed]); err != nil {
		unix.Munmap(mem)
		return nil, err
	}
	return mem, nil
}

// mapSegment maps a segment that a peer handed over, of which the first backed
// bytes are used from now on. Only a file that can't shrink is accepted: reading
// past the end of one that did would kill us.
func mapSegment(fd, size, backed, prot int) ([]byte, error) {
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
	if !populates() {
		backed = size
	}
	mem, err := mapBacked(fd, size, backed, prot)
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
