package launch

import (
	"encoding/binary"
	"errors"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// setup is the first frame to an agent: the job, and its part in it. The job's key goes
// this way only, over the connection on which the agent was started.
type setup struct {
	id      [16]byte
	key     Key
	size    int
	ranks   []int // to start there, ascending
	dir     string
	path    string
	args    []string // after the program's name
	env     []string // the launcher's
	bound   bool
	noRseq  bool
	stdin   bool // rank 0 has an input
	null    [2]bool
	early   [2]bool // by stream: whether an unfinished line is shown after the silence
	slack   time.Duration
	grace   time.Duration
	silence time.Duration // of the launcher, after which the agent ends its ranks; 0: for ever
}

func (s *setup) append(b []byte) []byte {
	b = append(b, s.id[:]...)
	b = append(b, s.key[:]...)
	b = binary.AppendUvarint(b, uint64(s.size))
	b = binary.AppendUvarint(b, uint64(len(s.ranks)))
	for _, r := range s.ranks {
		b = binary.AppendUvarint(b, uint64(r))
	}
	b = appendText(b, s.dir)
	b = appendText(b, s.path)
	b = appendTexts(b, s.args)
	b = appendTexts(b, s.env)
	for _, on := range []bool{s.bound, s.noRseq, s.stdin, s.null[0], s.null[1], s.early[0], s.early[1]} {
		b = appendRest(b, on)
	}
	for _, d := range []time.Duration{s.slack, s.grace, s.silence} {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

func parseSetup(p []byte) (*setup, error) {
	s, c := &setup{}, &cursor{b: p}
	copy(s.id[:], c.bytes(len(s.id)))
	copy(s.key[:], c.bytes(len(s.key)))
	s.size = c.count(MaxRanks)
	s.ranks = make([]int, 0, min(s.size, len(p)))
	for n := c.count(s.size); len(s.ranks) < n && c.err == nil; {
		r := c.count(s.size - 1)
		if k := len(s.ranks); k > 0 && r <= s.ranks[k-1] {
			c.fail("ranks that do not ascend")
		}
		s.ranks = append(s.ranks, r)
	}
	s.dir, s.path = c.text(), c.text()
	s.args, s.env = c.texts(), c.texts()
	for _, on := range []*bool{&s.bound, &s.noRseq, &s.stdin, &s.null[0], &s.null[1], &s.early[0], &s.early[1]} {
		*on = c.bool()
	}
	for _, d := range []*time.Duration{&s.slack, &s.grace, &s.silence} {
		*d = time.Duration(c.uvarint())
		if *d < 0 {
			c.fail("a negative time")
		}
	}
	if s.size < 1 || len(s.ranks) < 1 {
		c.fail("no ranks")
	}
	return s, c.end("setup")
}

// signalTo is what the launcher has ranks of an agent sent. rank is noRank for all.
type signalTo struct {
	signal syscall.Signal
	told   bool // the ranks are to exit, and what they then fail of counts no more
	rank   uint32
}

func (s signalTo) append(b []byte) []byte {
	b = appendRest(append(b, byte(s.signal)), s.told)
	return binary.LittleEndian.AppendUint32(b, s.rank)
}

func parseSignalTo(p []byte) (s signalTo, err error) {
	c := &cursor{b: p}
	s.signal, s.told, s.rank = syscall.Signal(c.byte()), c.bool(), c.uint32()
	return s, c.end("signal")
}

// gone says that a rank joins no round of Exchange from a number on.
type gone struct {
	rank   int
	from   uint64
	reason string
}

func (g gone) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(g.rank))
	b = binary.LittleEndian.AppendUint64(b, g.from)
	return append(b, g.reason[:min(len(g.reason), maxFailText)]...)
}

func parseGone(p []byte, size int) (g gone, err error) {
	c := &cursor{b: p}
	g.rank, g.from, g.reason = int(c.uint32()), c.uint64(), c.rest()
	if g.rank >= size {
		c.fail("a rank that the job does not have")
	}
	return g, c.end("gone")
}

// Classes of the error of a report.
const (
	reportsNothing = iota
	reportsExit
	reportsAbort
	reportsText
)

// Classes of what else was wrong with a rank that has failed.
const (
	exitOnly = iota
	exitNotFinalized
	exitProtocol
	exitText
)

func appendReport(b []byte, r report) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(r.rank)))
	b = binary.LittleEndian.AppendUint64(b, r.order)
	b = appendRest(b, r.ended)
	b = binary.LittleEndian.AppendUint32(b, uint32(r.after))
	if r.err == nil {
		return append(b, reportsNothing)
	}
	if a, ok := errors.AsType[*cause.AbortError](r.err); ok {
		return append(append(b, reportsAbort, byte(a.Code)), a.Why...)
	}
	e, ok := errors.AsType[*ExitError](r.err)
	if !ok {
		return append(append(b, reportsText), r.err.Error()...)
	}
	b = binary.LittleEndian.AppendUint32(append(b, reportsExit), uint32(int32(e.Code)))
	b = append(b, byte(e.Signal))
	switch {
	case e.Err == nil:
		return append(b, exitOnly)
	case e.Err == ErrNotFinalized:
		return append(b, exitNotFinalized)
	case errors.Is(e.Err, ErrProtocol):
		return append(append(b, exitProtocol), e.Err.Error()...)
	}
	return append(append(b, exitText), e.Err.Error()...)
}

// maxReportText is room for every error of a rank; longer ones are cut off.
const maxReportText = 8 << 10

// parseReport is the reverse of appendReport. rank is theJob for an event of the agent.
func parseReport(p []byte) (r report, err error) {
	c := &cursor{b: p}
	r.rank, r.order, r.ended, r.after = int(int32(c.uint32())), c.uint64(), c.bool(), int(c.uint32())
	switch class := c.byte(); class {
	case reportsNothing:
	case reportsAbort:
		r.err = &cause.AbortError{Rank: r.rank, Code: int(c.byte()), Why: c.rest()}
	case reportsText:
		r.err = &told{text: c.rest()}
	case reportsExit:
		e := &ExitError{Rank: r.rank, Code: int(int32(c.uint32())), Signal: syscall.Signal(c.byte())}
		switch c.byte() {
		case exitOnly:
		case exitNotFinalized:
			e.Err = ErrNotFinalized
		case exitProtocol:
			e.Err = &told{c.rest(), ErrProtocol}
		default:
			e.Err = errors.New(c.rest())
		}
		r.err = e
	default:
		c.fail("an unknown class of error")
	}
	return r, c.end("report")
}

// told is an error that another process has put into words.
type told struct {
	text  string
	class error // or nil
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.class }

// said is output of a rank: text of a stream, or, with ends, the end of that stream.
type said struct {
	stream byte // 0: standard output, 1: standard error
	rank   uint32
	ends   bool
	text   []byte
}

func (s said) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, s.stream), s.rank)
	return append(appendRest(b, s.ends), s.text...)
}

// parseSaid returns a slice of p.
func parseSaid(p []byte) (s said, err error) {
	c := &cursor{b: p}
	s.stream, s.rank, s.ends = c.byte(), c.uint32(), c.bool()
	if s.text = c.bytes(len(c.b)); s.stream > 1 || s.ends == (len(s.text) > 0) {
		c.fail("neither text nor an end")
	}
	return s, c.end("output")
}

// Streams of credit.
const (
	creditOut = iota
	creditErr
	creditIn
)

// credit says that a peer has passed on bytes of a stream, and that as many may follow.
type credit struct {
	stream byte
	bytes  uint32
}

func (k credit) append(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(b, k.stream), k.bytes)
}

func parseCredit(p []byte) (k credit, err error) {
	c := &cursor{b: p}
	k.stream, k.bytes = c.byte(), c.uint32()
	if k.stream > creditIn {
		c.fail("an unknown stream")
	}
	return k, c.end("credit")
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTexts(b []byte, all []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = appendText(b, s)
	}
	return b
}

// cursor reads a payload. After an error all it returns is zero.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) fail(why string) {
	if c.err == nil {
		c.err = protocolError("%s", why)
	}
	c.b = nil
}

// end returns the error of what was read, which must be all there is.
func (c *cursor) end(what string) error {
	if c.err == nil && len(c.b) > 0 {
		c.fail("bytes after its end")
	}
	if c.err != nil {
		return protocolError("%s with %v", what, c.err)
	}
	return nil
}

func (c *cursor) bytes(n int) []byte {
	if n > len(c.b) {
		c.fail("too few bytes")
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) byte() byte {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) bool() bool {
	v := c.byte()
	if v > 1 {
		c.fail("a flag that is neither 0 nor 1")
	}
	return v == 1
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail("a number that has no end")
		return 0
	}
	c.b = c.b[n:]
	return v
}

// count reads a number up to most.
func (c *cursor) count(most int) int {
	v := c.uvarint()
	if v > uint64(max(most, 0)) {
		c.fail("a number that is too large")
		return 0
	}
	return int(v)
}

func (c *cursor) text() string { return string(c.bytes(c.count(len(c.b)))) }

func (c *cursor) texts() (all []string) {
	for n := c.count(len(c.b)); len(all) < n && c.err == nil; {
		all = append(all, c.text())
	}
	return all
}

// rest reads all that is left.
func (c *cursor) rest() string { return string(c.bytes(len(c.b))) }
