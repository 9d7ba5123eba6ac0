package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/membar"
)

// blockSize is the length of the blocks of a transfer of n bytes: half,
// in whole small blocks, so that each end has one or few.
func blockSize(n int) int {
	return min(max((n/2+minBlock-1)&^(minBlock-1), minBlock), maxBlock)
}

// getJob is a transfer in progress, moved on by Poll.
type getJob struct {
	e       *endpoint
	op      fabric.Op
	number  uint64 // among the endpoint's jobs, from 1 on
	local   []byte
	remote  fabric.Remote
	write   bool // a Put
	block   int  // bytes
	blocks  int
	shared  bool  // the peer is to help
	share   int   // blocks that are ours to move while the helper moves the others
	front   int   // blocks moved by us, in order from the front
	coop    int   // slot, or -1
	waiting bool  // every block is claimed; the helper still copies
	err     error // why it has failed, while the helper may still copy

	// Once it was taken back from its helper: how many blocks are the helper's.
	taken bool
	owed  uint64
}

// Get copies memory of the peer to dst.Bytes: from its arena by a plain copy,
// from any other memory through CMA. A large one is moved by Poll, block by
// block, while the peer's Poll writes blocks from the back.
func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if n := len(dst.Bytes); e.d.delivering && n < coopMin && src.Key == keyVirtual && uint64(n) <= src.Len &&
		e.up && e.info.cma.Load() && !e.d.closed.Load() && op != fabric.NoOp {
		e.d.readLater(e, dst.Bytes, src.Addr, op)
		return nil
	}
	return e.getLong(dst.Bytes, src, op)
}

// getLong is apart so that Get needs no room for the job.
//
//go:noinline
func (e *endpoint) getLong(local []byte, src fabric.Remote, op fabric.Op) error {
	return e.transfer(getJob{e: e, op: op, local: local, remote: src, coop: -1})
}

// briefRead is a short Get of a handler, done as soon as the handler has
// returned. A system call overwrites the processor's return-address stack, so
// each function it is made in becomes slow to return from, and a handler is many
// functions deep.
type briefRead struct {
	e     *endpoint
	op    fabric.Op
	local []byte
	addr  uint64
}

// flushAddr is the address of a briefRead that is a Flush behind others.
const flushAddr = ^uint64(0)

// readLater stores a brief read field by field: a struct copied right after its
// parts were stored would have to wait for them.
func (d *Domain) readLater(e *endpoint, local []byte, addr uint64, op fabric.Op) {
	n := len(d.reads)
	if n == cap(d.reads) {
		d.reads = append(d.reads, briefRead{})
	}
	d.reads = d.reads[:n+1]
	r := &d.reads[n]
	r.e, r.op, r.local, r.addr = e, op, local, addr
}

// readBrief does the reads of the handler that has returned, and of the handlers
// that their completions call.
func (d *Domain) readBrief(h fabric.Handler) int {
	n := 0
	for ; n < len(d.reads); n++ {
		r := &d.reads[n]
		if r.local == nil && r.addr == flushAddr {
			r.e.beginFlush(r.op)
			continue
		}
		err := readPeer(r.e.info.thread, r.local, r.addr)
		if r.e.up {
			r.e.tx.claimTwo()
		}
		err = r.e.checked(err)
		r.local = nil
		h.Complete(r.op, err) // which may move d.reads
	}
	d.reads = d.reads[:0]
	return n
}

// Put copies src.Bytes to memory of the peer.
func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	return e.transfer(getJob{e: e, op: op, local: src.Bytes, remote: dst, write: true, coop: -1})
}

func (e *endpoint) transfer(j getJob) error {
	// The peer's memory may be used once the peer has the ring in which it
	// reports that it leaves.
	if !e.up || e.d.closed.Load() {
		return e.notUp()
	}
	if uint64(len(j.local)) > j.remote.Len {
		return fabric.ErrBadRemote
	}
	switch {
	case j.remote.Key > keyShare:
		return fabric.ErrBadRemote
	case j.remote.Key == keyVirtual && !e.info.cma.Load():
		return fabric.ErrUnsupported
	case j.remote.Key == keyArena: // a failure of a job with no completion of its own would be the Flush's
		if _, err := e.info.arena.at(j.remote.Addr, uint64(len(j.local))); errors.Is(err, fabric.ErrUnsupported) {
			return err
		}
	}
	j.shared = e.helpPays(&j)
	if !j.write && len(j.local) <= wholeGet && !j.shared {
		e.over(j.op, e.move(&j, 0, len(j.local)))
		return nil
	}
	// A Put is a job whatever its length: a strided one is thousands of them in a row.
	e.begin(j)
	return nil
}

// helpPays reports whether the peer should help with a transfer.
func (e *endpoint) helpPays(j *getJob) bool {
	if j.write || len(j.local) < coopMin || j.remote.Key == keyShare {
		return false
	}
	if j.remote.Key == keyArena {
		// Without the price of a system call help pays only where both ends
		// have much to do, and only into memory that the peer has mapped.
		_, mapped := e.d.arena.offset(j.local)
		return mapped && len(j.local) >= coopArena
	}
	return !e.coop.paused(len(j.local))
}

// begin makes a transfer a job.
func (e *endpoint) begin(j getJob) {
	e.begun++
	e.running++
	j.number = e.begun
	e.d.jobs = append(e.d.jobs, &j)
}

// move copies n bytes at off of a transfer.
func (e *endpoint) move(j *getJob, off, n int) error {
	local := j.local[off : off+n]
	addr := j.remote.Addr + uint64(off)
	var mapped []byte
	if j.remote.Key != keyVirtual {
		var err error
		if mapped, err = e.info.mapped(j.remote.Key, addr, uint64(n)); err != nil {
			return e.moveError(err)
		}
	}
	if j.write {
		if err := writeTo(e.tx.mem, e.info, mapped, local, addr); err != nil {
			return e.moveError(err)
		}
		return nil
	}
	var err error
	if mapped != nil {
		copy(local, mapped)
	} else {
		err = readPeer(e.info.thread, local, addr)
	}
	return e.checked(err)
}

// checked returns the outcome of a read of the peer's memory that returned err:
// the read does not count if the peer may have reused the memory.
func (e *endpoint) checked(err error) error {
	membar.LoadFence() // the bytes were read before hasLeft looks
	if err == nil {
		err = e.leftError()
	}
	if err == nil {
		return nil
	}
	return e.moveError(err)
}

// moveError returns why memory of the peer could not be copied. The peer must
// send memory that the kernel keeps from other processes (memfd_secret, a
// device's), and memory of a process that has forbidden access since.
func (e *endpoint) moveError(err error) error { return moveError(e.peer, e.info, err) }

// moveError is for any goroutine.
func moveError(peer fabric.Peer, p *peerInfo, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		err = fmt.Errorf("%w: process %d has ended", fabric.ErrPeerDown, p.pid)
	case errors.Is(err, unix.EPERM):
		p.cma.Store(false)
		err = fmt.Errorf("%w: %w", fabric.ErrUnsupported, err)
	case errors.Is(err, unix.EFAULT):
		err = fmt.Errorf("%w: %w", fabric.ErrUnsupported, err)
	}
	return &fabric.Error{Op: "copy memory of a peer", Peer: peer, HasPeer: true, Err: err}
}

// start cuts a transfer at the head of the queue into blocks, and asks for help
// with it.
func (j *getJob) start() {
	if j.shared && !j.e.coop.paused(len(j.local)) {
		j.cut(blockSize(len(j.local)))
		if j.e.askHelp(j); j.coop >= 0 {
			return
		}
	}
	j.cut(soloBlock)
	j.share = j.blocks
}

func (j *getJob) cut(block int) {
	j.block, j.blocks = block, (len(j.local)+block-1)/block
	j.share = (j.blocks + 1) / 2
}

// step moves one block and reports whether that was the last.
func (j *getJob) step() (over bool, err error) {
	if j.coop >= 0 {
		// the peer can write to the counter: the own count is the bound
		if j.front == j.blocks || !j.e.coop.claim(&j.e.tx, j.coop, j.blocks) {
			j.waiting = true
			return j.awaitHelp()
		}
	}
	off := j.front * j.block
	err = j.e.move(j, off, min(j.block, len(j.local)-off))
	j.front++
	if err != nil && j.coop >= 0 {
		j.err, j.waiting = err, true
		j.takeBack()
		return j.awaitHelp()
	}
	if err != nil {
		return true, err
	}
	return j.coop < 0 && j.front == j.blocks, nil
}

// finish completes job i.
func (d *Domain) finish(i int, err error) {
	j := d.jobs[i]
	last := len(d.jobs) - 1
	copy(d.jobs[i:], d.jobs[i+1:])
	d.jobs[last] = nil
	d.jobs = d.jobs[:last]
	j.e.ended(j, err)
}

// noCMA logs once why large messages are copied twice.
func (d *Domain) noCMA(err error) {
	d.cmaOnce.Do(func() {
		d.cfg.Log.Info("shm: cross memory attach is refused, large messages are copied through the ring",
			"err", err, "remedy", "allow process_vm_readv (CAP_SYS_PTRACE, kernel.yama.ptrace_scope=0 or the container's seccomp profile)")
	})
}
