package shm

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/limits"
)

// memfdCreate, fallocate and madvise are variables so that tests can make them
// fail.
var (
	memfdCreate = unix.MemfdCreate
	fallocate   = unix.Fallocate
	madvise     = unix.Madvise
)

// shape divides a segment into parts of whole pages. The first bytes of each
// part are used from the beginning and backed by memory then, so that a full
// machine is an error there and not a SIGBUS later. The others are populated
// before they are touched.
type shape struct {
	size, part, backed int // bytes
}

// settled is the shape of the segment on this machine.
func (s shape) settled() shape {
	if !populates() {
		s.backed = s.part
	}
	return s
}

func (s shape) whole() bool { return s.backed == s.part }

// The first page of a control segment is backed from the beginning, and shared
// memory as it is allocated; the owner backs both, so peers only map it.
var (
	controlShape     = shape{controlSize, controlSize, offShare}
	peerControlShape = shape{controlSize, controlSize, 0}
)

// newSegment makes a sealed memfd and maps it.
func newSegment(name string, s shape) (fd int, mem []byte, err error) {
	fd, err = memfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, nil, denied("create shared memory "+name, "memfd_create", err)
	}
	if s = s.settled(); s.whole() {
		err = reserve(fd, 0, int64(s.size))
	} else if unix.Ftruncate(fd, int64(s.size)) != nil { // else mapBacked reserves
		err = reserve(fd, 0, int64(s.size))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		mem, err = mapBacked(fd, s)
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, fmt.Errorf("shared memory %s of %d bytes: %w", name, s.size, err)
	}
	return fd, mem, nil
}

// denied is the error of a call that shared memory needs.
func denied(op, call string, err error) error {
	return &fabric.Error{Op: op, Err: os.NewSyscallError(call, err), Remedy: limits.Allow(call)}
}

// reserve allocates the pages of a range of a memfd. They are zero, or it has none so far.
func reserve(fd int, off, n int64) error {
	for {
		err := fallocate(fd, 0, off, n)
		if limits.Refused(err) {
			err = fill(fd, off, n)
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.ENOMEM):
			err = noMemory(err)
		case errors.Is(err, unix.EFBIG): // a memfd is a file
			err = &fabric.Error{Op: "reserve shared memory", Err: err}
		}
		return err
	}
}

// fill writes zeros. To touch the pages of a mapping instead would be a SIGBUS on a full machine.
func fill(fd int, off, n int64) error {
	zeros := make([]byte, min(n, 1<<20))
	for n > 0 {
		k, err := unix.Pwrite(fd, zeros[:min(n, int64(len(zeros)))], off)
		if err != nil {
			return err
		}
		off, n = off+int64(k), n-int64(k)
	}
	return nil
}

func noMemory(err error) error {
	return &fabric.Error{Op: "reserve shared memory", Err: err,
		Remedy: "free memory, or raise the memory limit of the container or the limit on address space (ulimit -v)"}
}

// populates reports whether the kernel allocates a range of a mapping on
// request, as Linux does since 5.14 (madvise(2), MADV_POPULATE_WRITE). Where it
// does not, segments are reserved and mapped whole. It is a variable so that
// tests can simulate such a kernel.
var populates = sync.OnceValue(func() bool {
	mem, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer unix.Munmap(mem)
	return unix.Madvise(mem, unix.MADV_POPULATE_WRITE) == nil
})

// populate allocates the pages of a part of a mapped segment, in the file and in
// the mapping. The part begins at a page.
func populate(mem []byte) error {
	if len(mem) == 0 || !populates() {
		return nil
	}
	for {
		err := madvise(mem, unix.MADV_POPULATE_WRITE)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EFAULT): // an access would be a SIGBUS
			err = unix.ENOSPC
			fallthrough
		case errors.Is(err, unix.ENOMEM):
			return noMemory(err)
		}
		return err
	}
}

// mapBacked maps a segment and backs the part in use.
func mapBacked(fd int, s shape) ([]byte, error) {
	const prot = unix.PROT_READ | unix.PROT_WRITE
	if s.whole() {
		return unix.Mmap(fd, 0, s.size, prot, unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	mem, err := unix.Mmap(fd, 0, s.size, prot, unix.MAP_SHARED)
	if err != nil {
		return nil, noMemory(err)
	}
	for at := 0; at < s.size; at += s.part {
		if err = populate(mem[at : at+s.backed]); err != nil {
			unix.Munmap(mem)
			return nil, err
		}
	}
	return mem, nil
}

// mapSegment maps a segment that a peer handed over. Only a file that can't
// shrink is accepted: reading past the end of one that did would kill us.
func mapSegment(fd int, s shape) ([]byte, error) {
	if err := checkSealed(fd); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("stat peer segment: %w", limits.Call("fstat", err))
	}
	if st.Size != int64(s.size) {
		return nil, fmt.Errorf("peer segment has %d bytes, not %d", st.Size, s.size)
	}
	mem, err := mapBacked(fd, s.settled())
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
