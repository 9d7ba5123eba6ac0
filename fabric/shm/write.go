package shm

import (
	"runtime"

	"github.com/weft-mpi/weft/fabric"
)

// way is what a goroutine needs to write to the peer. It does not change; the
// owner stores another one.
type way struct {
	tx   []byte // the ring to the peer: its words, not its lines
	info *peerInfo
	wake *uint64 // the peer's wake word
	err  error   // why nothing can be written any more
}

// stand makes the connection one that stands.
func (e *endpoint) stand() {
	e.up = true
	e.way.Store(&way{tx: e.tx.mem, info: e.info, wake: e.wake}) // pairs with Write
}

// Awake reports whether the peer's doorbell is not armed.
func (e *endpoint) Awake() bool {
	if !e.writers.TryRLock() { // as for Write
		return true
	}
	defer e.writers.RUnlock()
	w := e.way.Load()
	return w == nil || w.wake == nil || loadWake(w.wake) == 0
}

// Write copies src to memory of the peer, as Put does, in the caller's goroutine.
//
// What it uses is unmapped by Close, which locks writers first, for good. So it
// is used only by those who hold writers for reading, and Close waits for them.
func (e *endpoint) Write(dst fabric.Remote, src []byte) error {
	if !e.writers.TryRLock() { // pairs with the lock in release
		return fabric.ErrClosed
	}
	defer e.writers.RUnlock()
	w := e.way.Load() // pairs with stand and cut
	switch {
	case e.d.closed.Load():
		return fabric.ErrClosed
	case w == nil:
		return fabric.ErrUnsupported
	case w.err != nil:
		return w.err
	case uint64(len(src)) > dst.Len || dst.Key > keyShare:
		return fabric.ErrBadRemote
	case dst.Key == keyVirtual && !w.info.cma.Load():
		return fabric.ErrUnsupported
	}
	mapped, err := w.info.mapped(dst.Key, dst.Addr, uint64(len(src)))
	for off := 0; err == nil && off < len(src); off += soloBlock {
		switch {
		case e.d.closed.Load():
			return fabric.ErrClosed
		case e.way.Load() != w:
			return e.way.Load().err
		}
		end := min(off+soloBlock, len(src))
		// A goroutine that writes again and again must not keep the count of a
		// peer that has left from 0: so this load comes before writeTo's.
		if err = goneError(whyGone(w.tx)); err != nil {
			break
		}
		var block []byte
		if mapped != nil {
			block = mapped[off:end]
		}
		err = writeTo(w.tx, w.info, block, src[off:end], dst.Addr+uint64(off))
	}
	runtime.KeepAlive(src) // CMA knows its address only
	if err != nil {
		return moveError(e.peer, w.info, err)
	}
	return nil
}
