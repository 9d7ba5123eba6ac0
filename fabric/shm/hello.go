package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
)

// The greeting two ranks exchange over the rendezvous socket, both ways and in
// one packet each: fixed fields, then the architecture, the job and, in an
// answer that refuses, the reason.
const (
	helloMagic   = 0x3174666577 // "weft1"
	helloVersion = 6
	maxHello     = 1024
	helloFixed   = 8 + 4 + 4 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + 3*2
)

type hello struct {
	version    uint32
	rank, size uint32
	lines, pay uint32 // the shape of a full ring
	membarrier bool   // the sender can issue an expedited membarrier
	probeAddr  uint64 // where probeValue stands in the sender's memory
	probeValue uint64
	parked     uint32 // a thread that always sleeps, see parked.go; 0: none
	arch, job  string
	refusal    string
	already    bool // an answer: the ranks are connected, by another greeting
}

func (h *hello) encode() []byte {
	b := make([]byte, 0, helloFixed+len(h.arch)+len(h.job)+len(h.refusal))
	le := binary.LittleEndian
	b = le.AppendUint64(b, helloMagic)
	for _, v := range []uint32{h.version, h.rank, h.size, h.lines, h.pay} {
		b = le.AppendUint32(b, v)
	}
	var flags uint32
	if h.membarrier {
		flags |= 1
	}
	if h.already {
		flags |= 2
	}
	b = le.AppendUint32(b, flags)
	b = le.AppendUint64(b, h.probeAddr)
	b = le.AppendUint64(b, h.probeValue)
	b = le.AppendUint32(b, h.parked)
	for _, s := range []string{h.arch, h.job, h.refusal} {
		b = le.AppendUint16(b, uint16(len(s)))
	}
	b = append(b, h.arch...)
	b = append(b, h.job...)
	return append(b, h.refusal...)
}

func decodeHello(b []byte) (hello, error) {
	if len(b) < helloFixed {
		return hello{}, fmt.Errorf("greeting of %d bytes is too short", len(b))
	}
	le := binary.LittleEndian
	if le.Uint64(b) != helloMagic {
		return hello{}, errors.New("not a Weft greeting")
	}
	h := hello{
		version: le.Uint32(b[8:]), rank: le.Uint32(b[12:]), size: le.Uint32(b[16:]),
		lines: le.Uint32(b[20:]), pay: le.Uint32(b[24:]),
		membarrier: le.Uint32(b[28:])&1 != 0, already: le.Uint32(b[28:])&2 != 0,
		probeAddr: le.Uint64(b[32:]), probeValue: le.Uint64(b[40:]), parked: le.Uint32(b[48:]),
	}
	rest := b[helloFixed:]
	for i, s := range []*string{&h.arch, &h.job, &h.refusal} {
		n := int(le.Uint16(b[52+2*i:]))
		if n > len(rest) {
			return hello{}, errors.New("greeting is cut short")
		}
		*s, rest = string(rest[:n]), rest[n:]
	}
	if len(rest) != 0 {
		return hello{}, fmt.Errorf("greeting has %d bytes too many", len(rest))
	}
	return h, nil
}

// accepts says why a peer's greeting can't be accepted, both values named.
func (h *hello) accepts(o *hello) error {
	switch {
	case o.version != h.version:
		return fmt.Errorf("protocol version %d meets version %d: run the same build of Weft on all ranks", o.version, h.version)
	case o.arch != h.arch:
		return fmt.Errorf("architecture %s meets %s: shared memory needs one", o.arch, h.arch)
	case o.lines != h.lines || o.pay != h.pay:
		return fmt.Errorf("ring of %d lines and %d bytes meets one of %d and %d: run the same build of Weft on all ranks", o.lines, o.pay, h.lines, h.pay)
	case o.job != h.job:
		return fmt.Errorf("job %q meets job %q", o.job, h.job)
	case o.size != h.size:
		return fmt.Errorf("job of %d ranks meets one of %d", o.size, h.size)
	case o.rank >= h.size:
		return fmt.Errorf("rank %d in a job of %d", o.rank, h.size)
	}
	return nil
}

// ringShape is the shape of a segment of so many rings.
func (d *Domain) ringShape(rings int) shape {
	n := segmentFor(d.cfg.Size)
	return shape{size: rings * n, part: n, backed: d.ringStart(n)}
}

func (d *Domain) ringPair() shape { return d.ringShape(2) }

func (d *Domain) greeting() hello {
	return hello{
		version: helloVersion, rank: uint32(d.cfg.Rank), size: uint32(d.cfg.Size),
		lines: ringLines, pay: uint32(payloadFor(d.cfg.Size)), membarrier: d.membarrier,
		probeAddr: d.probeAddr(), probeValue: d.probe[0], parked: uint32(d.parked),
		arch: runtime.GOARCH, job: d.cfg.Job,
	}
}
