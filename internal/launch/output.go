package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
)

const (
	// maxLine is the longest line of output that is kept in one piece, in
	// bytes, its newline included.
	maxLine = 1 << 20
	// shortLine is the first size of a rank's buffer, which grows with its lines.
	shortLine = 8 << 10
	// silence is how long an unfinished line, a prompt say, waits for more
	// before it is written.
	silence = 100 * time.Millisecond
)

// OutputError says that output of ranks was lost because Stdout or Stderr of
// the Launch took no more.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return "launch: pass on the output of ranks: " + e.Err.Error() }

func (e *OutputError) Unwrap() error { return e.Err }

// errStuck is the error of a Write that still blocks after the job was stopped.
var errStuck = errors.New("its reader takes nothing")

// destination takes the output of the ranks: a writer, or, on another host, the
// connection to the launcher that has the writer.
type destination interface {
	// put takes text of a stream in one piece: a line, the beginning of one, or more
	// of the stream's unfinished line. If text is nil, the stream has ended, and its
	// unfinished line gets a newline. It borrows text, and may block.
	put(s *stream, text []byte)
	// lost returns why output was lost, or nil.
	lost() error
}

// writer is a writer of the Launch, for one or both streams of the ranks.
type writer struct {
	w     io.Writer
	lock  *sync.Mutex                 // shared by all writers that are no files: two may write to one place
	open  *stream                     // whose line is unfinished, or nil; guarded by lock
	line  []byte                      // buffer for a line with its prefix; guarded by lock
	err   atomic.Pointer[OutputError] // the first error of w: stored by put, loaded by put and drain
	ended func(error)                 // called when the reader of w has gone
}

// output copies one stream of all ranks, line by line.
type output struct {
	to    destination
	many  bool // several ranks write: a line that is cut off gets a newline
	label bool // each line begins with its rank
	early bool // an unfinished line is written after the silence

	copies sync.WaitGroup
	mu     sync.Mutex
	from   []*stream
	last   time.Time // deadline of all reads, set by drain; zero: none
}

// stream is one stream of one rank.
type stream struct {
	out    *output
	rank   int
	pipe   *os.File // read end; nil at the launcher for a rank of another host
	prefix string
}

// attach returns the descriptor that a rank is to write to, and whether the
// caller has to close it once the rank has it.
func (o *output) attach(rank int) (fd int, owned bool, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, false, fmt.Errorf("open an output pipe: %w", limits.Call("pipe2", err))
	}
	// Only our end: O_NONBLOCK on the other would surprise the rank.
	if err := unix.SetNonblock(p[0], true); err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return 0, false, fmt.Errorf("open an output pipe: %w", err)
	}
	s := o.stream(rank)
	s.pipe = os.NewFile(uintptr(p[0]), "rank output")
	o.mu.Lock()
	o.from = append(o.from, s)
	o.mu.Unlock()
	o.copies.Go(s.copy)
	return p[1], true, nil
}

// stream returns the stream of a rank, without a pipe.
func (o *output) stream(rank int) *stream {
	s := &stream{out: o, rank: rank}
	if o.label {
		s.prefix = strconv.Itoa(rank) + ": "
	}
	return s
}

// copy passes lines on until the pipe's end of file or drain's deadline. After
// an error of the writer it reads on, so that the rank does not block.
func (s *stream) copy() {
	defer s.pipe.Close()
	buf := make([]byte, shortLine)
	start, end := 0, 0 // bounds in buf of the unwritten beginning of a line
	waits := false     // the read deadline is the silence
	for {
		if show := s.out.early && end > start; show || waits {
			waits = show
			s.await(show)
		}
		n, err := s.pipe.Read(buf[end:])
		from := end
		end += n
		for {
			i := bytes.IndexByte(buf[from:end], '\n')
			if i < 0 {
				break
			}
			from += i + 1
			s.put(buf[start:from])
			start = from
		}
		quiet := waits && errors.Is(err, os.ErrDeadlineExceeded) && !s.out.over()
		if err != nil && !quiet {
			s.finish(buf[start:end])
			return
		}
		if quiet || end-start == maxLine {
			s.put(buf[start:end])
			start = end
		}
		buf, start, end = makeRoom(buf, start, end)
	}
}

// makeRoom returns a buffer that begins with buf[start:end] and is not full.
// Precondition: buf[start:end] is shorter than maxLine.
func makeRoom(buf []byte, start, end int) (b []byte, newStart, newEnd int) {
	switch rest := buf[start:end]; {
	case len(rest) == 0 && len(buf) > 16*shortLine:
		return make([]byte, shortLine), 0, 0 // long lines are exceptions
	case len(rest) == 0:
		return buf, 0, 0
	case end < len(buf):
		return buf, start, end
	case start > 0:
		return buf, 0, copy(buf, rest)
	default:
		b = make([]byte, min(2*len(buf), maxLine))
		return b, 0, copy(b, rest)
	}
}

// await sets the deadline of the next read: the silence if short, and drain's
// if that is earlier.
func (s *stream) await(short bool) {
	o := s.out
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.last
	if soon := time.Now().Add(silence); short && (t.IsZero() || soon.Before(t)) {
		t = soon
	}
	s.pipe.SetReadDeadline(t)
}

// over reports whether drain's deadline has passed.
func (o *output) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.last.IsZero() && !time.Now().Before(o.last)
}

// finish writes the rest of a rank's last line.
func (s *stream) finish(rest []byte) {
	switch {
	case len(rest) > 0 && s.out.many:
		s.put(append(rest[:len(rest):len(rest)], '\n'))
	case len(rest) > 0:
		s.put(rest)
	case s.out.many:
		s.put(nil)
	}
}

func (s *stream) put(text []byte) { s.out.to.put(s, text) }

// put writes text in one Write. If another stream's line is unfinished in the
// same place, its newline comes first where several ranks write or lines have
// labels.
func (d *writer) put(s *stream, text []byte) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.err.Load() != nil || text == nil && d.open != s {
		return
	}
	line := d.line[:0]
	if d.open != s {
		if d.open != nil && (s.out.many || s.out.label) {
			line = append(line, '\n')
		}
		line = append(line, s.prefix...)
	}
	d.open = s
	switch {
	case text == nil:
		text = []byte{'\n'}
	case len(line) > 0:
		line = append(line, text...)
		text = line
	}
	if text[len(text)-1] == '\n' {
		d.open = nil
	}
	if cap(line) <= 16*shortLine {
		d.line = line
	}
	if _, err := d.w.Write(text); err != nil {
		lost := &OutputError{err}
		d.err.Store(lost)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			d.ended(lost)
		}
	}
}

func (d *writer) lost() error {
	if err := d.err.Load(); err != nil {
		return err
	}
	return nil
}

// drain waits for the last lines and returns the writer's error. Reads end
// after patience: a process that has left its rank's process group may hold a
// pipe open forever. Once the job was stopped, a Write that still blocks after
// 2*patience is given up and outlives drain. Precondition: all ranks have
// exited.
func (o *output) drain(patience time.Duration, stopped <-chan struct{}) error {
	o.mu.Lock()
	o.last = time.Now().Add(patience)
	for _, s := range o.from {
		s.pipe.SetReadDeadline(o.last) // fails if copy has closed it
	}
	o.mu.Unlock()
	done := make(chan struct{})
	go func() {
		o.copies.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-stopped:
		select {
		case <-done:
		case <-time.After(2 * patience): // after the pipes
			return &OutputError{errStuck}
		}
	}
	return o.to.lost()
}

// sink is where one stream of the ranks goes.
type sink interface {
	attach(rank int) (fd int, owned bool, err error)
	drain(patience time.Duration, stopped <-chan struct{}) error
}

// direct hands a file to the ranks as it is.
type direct struct{ f *os.File }

func (d direct) attach(int) (int, bool, error)              { return int(d.f.Fd()), false, nil }
func (d direct) drain(time.Duration, <-chan struct{}) error { return nil }

// newSinks returns the sinks of both streams. ended is called with an
// *OutputError when the reader of a stream has gone.
func (l *Launch) newSinks(null *os.File, ended func(error)) (out, err sink) {
	others := &sync.Mutex{}
	place := func(w io.Writer) *writer {
		if _, ok := file(w); ok {
			return &writer{w: w, lock: &sync.Mutex{}, ended: ended}
		}
		return &writer{w: w, lock: others, ended: ended}
	}
	to := place(l.Stdout)
	out = l.newSink(to, null)
	if !same(l.Stdout, l.Stderr) {
		to = place(l.Stderr)
	}
	return out, l.newSink(to, null)
}

func (l *Launch) newSink(to *writer, null *os.File) sink {
	f, isFile := file(to.w)
	switch {
	case to.w == nil:
		return direct{null}
	case isFile && l.Direct:
		return direct{f}
	}
	return &output{to: to, many: l.N > 1, label: l.Label, early: isFile && (l.N == 1 || isTerminal(f))}
}

func file(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && f != nil
}

// isTerminal does not use Fd, which may make the file blocking.
func isTerminal(f *os.File) bool {
	is := false
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) {
			_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
			is = err == nil
		})
	}
	return is
}

// same reports whether two writers are known to be one place.
func same(a, b io.Writer) bool {
	f, ok := file(a)
	g, ok2 := file(b)
	if ok && ok2 {
		s, err := f.Stat()
		t, err2 := g.Stat()
		return err == nil && err2 == nil && os.SameFile(s, t)
	}
	if a == nil || b == nil || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
