package tcp

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// take takes frames out of the input until it has handed max events to h, and
// returns how many frames it took. Messages are handed over where they lie.
func (c *conn) take(h fabric.Handler, max int) (n int, err error) {
	n, err = c.frames(h, max)
	c.full = n == max && c.r < c.w
	return n, err
}

func (c *conn) frames(h fabric.Handler, max int) (n int, err error) {
	e := c.e
	for n < max && e.down == nil {
		if len(c.into) > 0 {
			k := copy(c.into, c.in[c.r:c.w])
			c.into, c.r = c.into[k:], c.r+k
			if len(c.into) > 0 {
				return n, nil
			}
		}
		if c.skip > 0 {
			k := min(c.skip, c.w-c.r)
			c.skip, c.r = c.skip-k, c.r+k
			if c.skip > 0 {
				return n, nil
			}
		}
		if c.then.form != 0 {
			then := c.then
			c.then = after{}
			if err := c.bodyRead(then); err != nil {
				return n, err
			}
			n++
			continue
		}
		b := c.in[c.r:c.w]
		if len(b) < headerSize {
			return n, nil
		}
		hd, ok := readHeader(b)
		if !ok {
			return n, c.badFrame()
		}
		size := headerSize + int(hd.more)
		if hd.form == formMessage {
			size += int(hd.body)
		}
		if len(b) < size {
			return n, nil
		}
		c.r += size
		more := b[headerSize : headerSize+int(hd.more)]
		if hd.form == formMessage {
			body := b[headerSize+int(hd.more) : size]
			e.d.passing(hd.kind, body)
			h.Deliver(e.peer, hd.kind, hd.imm, more, body)
			n++
			continue
		}
		if err := c.frame(hd, more); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// frame takes the header of a frame that is no message.
func (c *conn) frame(hd header, more []byte) error {
	e, d := c.e, c.e.d
	le := binary.LittleEndian
	switch hd.form {
	case formGet:
		return c.serveGet(hd.imm, readRemote(more), le.Uint64(more[24:]))
	case formData:
		o, at := d.ops.of(e, hd.imm), le.Uint64(more)
		if o == nil || o.kind != opGet {
			return c.badFrame()
		}
		if size := uint64(len(o.dst)); at > size || uint64(hd.body) > size-at || uint64(hd.body) > o.end-o.claimed {
			return c.badFrame()
		}
		o.claimed += uint64(hd.body)
		c.into = o.dst[at : at+uint64(hd.body)]
		c.then = after{form: formData, id: hd.imm, n: uint64(hd.body)}
	case formPut:
		c.then = after{form: formPut, id: hd.imm, last: more[32] != 0}
		m, at := readRemote(more), le.Uint64(more[24:])
		g, b := d.regions.find(m, m.Len, fabric.RemoteWrite)
		if g != nil && at <= m.Len && uint64(hd.body) <= m.Len-at {
			g.busy++
			c.into, c.then.key = b[at:at+uint64(hd.body)], m.Key
		} else {
			c.skip, c.then.bad = int(hd.body), true
		}
	case formAtomic:
		return c.serveAtomic(hd.imm, more)
	case formDone:
		return c.onDone(hd, more)
	case formPing:
		return c.reply(header{form: formPong, imm: hd.imm}, nil)
	case formPong: // any byte says that the peer is there
	case formBye:
		e.left = true
		// Its rank waits until this host has acknowledged it.
		unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	case formEnd:
		return errEnded(e.peer)
	}
	return nil
}

// bodyRead is called when the body of a Data or a Put is in place.
func (c *conn) bodyRead(t after) error {
	d := c.e.d
	if t.form == formData {
		o := d.ops.of(c.e, t.id)
		if o == nil {
			return c.badFrame()
		}
		if o.got += t.n; o.got == o.end {
			d.finish(o, o.err)
		}
		return nil
	}
	d.release(t.key)
	i := slices.Index(c.e.badPuts, t.id)
	if t.bad && i < 0 {
		if len(c.e.badPuts) >= maxOps {
			return c.badFrame()
		}
		i = len(c.e.badPuts)
		c.e.badPuts = append(c.e.badPuts, t.id)
	}
	if !t.last {
		return nil
	}
	hd := header{form: formDone, imm: t.id}
	if i >= 0 {
		c.e.badPuts = slices.Delete(c.e.badPuts, i, i+1)
		hd.kind = uint8(statusBadRemote)
	} else {
		d.counts.puts++
	}
	return c.reply(hd, nil)
}

// serveGet begins to send what a peer Gets.
func (c *conn) serveGet(id uint64, m fabric.Remote, n uint64) error {
	out := c.e.data(n)
	if out.jobs.len() >= 2*maxOps {
		return c.badFrame() // more than a peer may have under way
	}
	g, b := c.e.d.regions.find(m, m.Len, fabric.RemoteRead)
	if g == nil || n > m.Len {
		return c.reply(header{form: formDone, kind: uint8(statusBadRemote), imm: id}, nil)
	}
	g.busy++
	c.e.d.counts.gets++
	out.jobs.push(job{form: formData, id: id, src: b[:n], key: m.Key})
	out.wantSend()
	return nil
}

// serveAtomic carries out a peer's Atomic.
func (c *conn) serveAtomic(id uint64, more []byte) error {
	le := binary.LittleEndian
	operand, compare := le.Uint64(more[24:]), le.Uint64(more[32:])
	g, b := c.e.d.regions.find(readRemote(more), 8, fabric.RemoteAtomic)
	var w *uint64
	if g != nil {
		w = word(b)
	}
	if w == nil {
		return c.reply(header{form: formDone, kind: uint8(statusBadRemote), imm: id}, nil)
	}
	var old [8]byte
	switch fabric.AtomicKind(more[40]) {
	case fabric.FetchAdd:
		le.PutUint64(old[:], fetchAdd(w, operand))
	case fabric.CompareSwap:
		le.PutUint64(old[:], compareSwap(w, compare, operand))
	default:
		return c.badFrame()
	}
	c.e.d.counts.atomics++
	return c.reply(header{form: formDone, imm: id, more: 8}, old[:])
}

// onDone takes the outcome of an operation.
func (c *conn) onDone(hd header, more []byte) error {
	d := c.e.d
	o := d.ops.of(c.e, hd.imm)
	if o == nil || o.kind == opFlush || o.kind == opGet && status(hd.kind) == statusOK || o.kind == opPut && !o.sent {
		return c.badFrame()
	}
	var err error
	if o.kind == opGet {
		return c.refused(o, more)
	}
	if status(hd.kind) != statusOK {
		err = badRemote(c.e.peer)
	} else if o.kind == opAtomic {
		if len(more) != 8 {
			return c.badFrame()
		}
		if o.result != nil {
			*o.result = binary.LittleEndian.Uint64(more)
		}
	}
	d.finish(o, err)
	return nil
}

// refused ends a Get behind what the peer has sent of it, since pieces over the other
// connection may still come.
func (c *conn) refused(o *operation, more []byte) error {
	var sent uint64
	if len(more) == 8 {
		sent = binary.LittleEndian.Uint64(more)
	}
	if o.err != nil || sent > o.end || sent < o.claimed {
		return c.badFrame()
	}
	o.end, o.err = sent, badRemote(c.e.peer)
	if o.got == o.end {
		c.e.d.finish(o, o.err)
	}
	return nil
}

// reply stages a frame. A peer that has more replies to come than it may have
// requests breaks the protocol.
func (c *conn) reply(h header, more []byte) error {
	if !c.room(headerSize + len(more)) {
		return c.badFrame()
	}
	c.stage(h, more, nil)
	return nil
}
