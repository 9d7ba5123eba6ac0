package tcp

import (
	"bytes"
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric"
)

// job is bulk data to be written: what a peer Gets, or what this rank Puts.
type job struct {
	form form // formData or formPut
	id   uint64
	src  []byte
	key  uint64 // formData: of the region that src is part of
	at   uint64 // bytes in earlier pieces
	dst  fabric.Remote
	gone bool // its memory was taken back: the peer is told so instead of the rest
}

// jobQueue is a connection's jobs, a ring. Their pieces take turns, so that a
// short job does not wait for a long one.
type jobQueue struct {
	ring    []job
	first   int
	n       int
	headLen int  // of the header of the piece under way, 0 if there is none
	piece   int  // bytes of its body
	told    bool // it tells that its job is gone
}

func (q *jobQueue) len() int  { return q.n }
func (q *jobQueue) top() *job { return &q.ring[q.first] }

func (q *jobQueue) push(j job) {
	if q.n == len(q.ring) {
		ring := make([]job, max(2*q.n, 8))
		for i := range q.n {
			ring[i] = q.ring[(q.first+i)%len(q.ring)]
		}
		q.ring, q.first = ring, 0
	}
	q.ring[(q.first+q.n)%len(q.ring)] = j
	q.n++
}

func (q *jobQueue) pop() (j job) {
	j, q.ring[q.first] = q.ring[q.first], job{}
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	return j
}

// nextPiece makes the piece under way out of the first job.
func (c *conn) nextPiece() {
	j := c.jobs.top()
	if j.gone {
		b := c.headBuf[:headerSize+8]
		header{form: formDone, kind: uint8(statusBadRemote), more: 8, imm: j.id}.put(b)
		binary.LittleEndian.PutUint64(b[headerSize:], j.at)
		c.head, c.tail = b, nil
		c.jobs.headLen, c.jobs.piece, c.jobs.told = len(b), 0, true
		return
	}
	most := uint64(shortPiece)
	if c.bulk {
		most = pieceSize
	}
	n := min(uint64(len(j.src))-j.at, most)
	h := header{form: j.form, body: uint32(n), imm: j.id, more: moreOf[j.form]}
	b := c.headBuf[:headerSize+int(h.more)]
	h.put(b)
	more := b[headerSize:]
	if j.form == formData {
		binary.LittleEndian.PutUint64(more, j.at)
	} else {
		putRemote(more, j.dst)
		binary.LittleEndian.PutUint64(more[24:], j.at)
		more[32] = 0
		if j.at+n == uint64(len(j.src)) {
			more[32] = 1
		}
	}
	c.head, c.tail = b, j.src[j.at:j.at+n]
	c.jobs.headLen, c.jobs.piece, c.jobs.told = len(b), int(n), false
}

// pieceWritten goes on with the next job. The pieces of a Get may overtake one
// another, those of a Put may not.
func (c *conn) pieceWritten() {
	j := c.jobs.pop()
	j.at += uint64(c.jobs.piece)
	if j.gone && !c.jobs.told || !j.gone && j.at < uint64(len(j.src)) {
		if b := c.e.bulk; b != nil && j.form == formData {
			c = b // which may stand only now
			c.wantSend()
		}
		c.jobs.push(j)
		return
	}
	if j.form == formData {
		c.e.d.release(j.key)
	} else if o := c.e.d.ops.of(c.e, j.id); o != nil {
		o.sent = true
	}
}

// release lets the regions go that the connection reads or writes.
func (c *conn) release() {
	c.e.d.release(c.then.key)
	c.cut(0)
}

// cut drops all jobs but the first n.
func (c *conn) cut(n int) {
	for q := &c.jobs; q.n > n; q.n-- {
		j := &q.ring[(q.first+q.n-1)%len(q.ring)]
		c.e.d.release(j.key)
		*j = job{}
	}
}

// forsake lets the memory of a region go, whose owner takes it back while the
// peer reads it or writes to it. The rest of a piece under way is copied first.
func (c *conn) forsake(key uint64) {
	if c.then.key == key && len(c.into) > 0 {
		c.skip, c.into = len(c.into), nil
		c.then.bad = true
	}
	for i := range c.jobs.n {
		j := &c.jobs.ring[(c.jobs.first+i)%len(c.jobs.ring)]
		if j.form != formData || j.key != key || j.gone {
			continue
		}
		if i == 0 && c.jobs.headLen > 0 {
			c.tail = bytes.Clone(c.tail)
		}
		j.gone, j.src, j.key = true, nil, 0
	}
}
