package pt2pt

import "github.com/weft-mpi/weft/internal/wire"

// tooEarly decides whether a ready send that has found no receive came too
// early. It did not if the receive is among the operations that other goroutines
// have queued: the call that posts it may have returned.
func (e *Engine) tooEarly(a *arrival) {
	gen := a.gen
	a.ready = false
	e.loop.Behind(func() {
		if a.gen == gen {
			a.ready = true
			e.late(a)
		}
	})
}

// late reports a ready send whose receive was not posted (MPI-4.0 §3.4): an
// error of the program. Nothing is lost: the message waits like any other. A
// sender that still waits for this rank is told too, with the FIN. Of many, the
// first, second, fourth and so on are reported.
func (e *Engine) late(a *arrival) {
	if e.lates++; e.lates&(e.lates-1) != 0 {
		return
	}
	cid, tag := wire.Match(a.imm)
	e.log.Error("a ready send came before its receive was posted; the message is kept like a standard one",
		"rank", e.rank, "source", a.from, "tag", tag, "context", cid, "bytes", a.total, "so far", e.lates,
		"remedy", "post the receive before the sender may start, or use a standard send")
}
