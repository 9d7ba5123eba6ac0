package boot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxLine is the longest line of output that is kept in one piece.
const maxLine = 64 << 10

// output passes what ranks write on to one writer, line by line.
type output struct {
	w    io.Writer
	lock *sync.Mutex // shared by all outputs of a launch: their writers may be one
	many bool        // several ranks write: end a last line that has no end

	copies sync.WaitGroup
	mu     sync.Mutex
	pipes  []*os.File // read ends
	err    error      // the first that w returned
}

// attach returns the descriptor that a rank is to write to, and whether the
// caller has to close it once the rank has it.
func (o *output) attach() (fd int, owned bool, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, false, fmt.Errorf("open an output pipe: %w", err)
	}
	// Only our end: O_NONBLOCK on the other would surprise the rank.
	if err := unix.SetNonblock(p[0], true); err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return 0, false, fmt.Errorf("open an output pipe: %w", err)
	}
	r := os.NewFile(uintptr(p[0]), "rank output")
	o.mu.Lock()
	o.pipes = append(o.pipes, r)
	o.mu.Unlock()
	o.copies.Go(func() { o.copy(r) })
	return p[1], true, nil
}

// copy passes lines on until the pipe ends or drain gives up on it. After an
// error of the writer it reads on, so that the rank does not block.
func (o *output) copy(r *os.File) {
	defer r.Close()
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			whole := err == nil || errors.Is(err, bufio.ErrBufferFull)
			o.write(line, !whole && o.many)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (o *output) write(line []byte, end bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.err != nil {
		return
	}
	if end {
		line = append(line[:len(line):len(line)], '\n')
	}
	_, o.err = o.w.Write(line)
}

// drain waits for the last lines and returns the writer's error. A process
// that has escaped its rank's process group may hold a pipe open for ever:
// it gets patience. Precondition: all ranks have ended.
func (o *output) drain(patience time.Duration) error {
	o.mu.Lock()
	for _, p := range o.pipes {
		p.SetReadDeadline(time.Now().Add(patience)) // fails if copy has closed it
	}
	o.mu.Unlock()
	o.copies.Wait()
	if o.err != nil {
		return fmt.Errorf("boot: pass on the output of ranks: %w", o.err)
	}
	return nil
}

// sink is where one stream of the ranks goes.
type sink interface {
	attach() (fd int, owned bool, err error)
	drain(patience time.Duration) error
}

// direct hands a file to the ranks as it is.
type direct struct{ f *os.File }

func (d direct) attach() (int, bool, error)  { return int(d.f.Fd()), false, nil }
func (d direct) drain(_ time.Duration) error { return nil }

// newSink returns the sink for a writer of Launch.
func newSink(w io.Writer, null *os.File, lock *sync.Mutex, n int) sink {
	if w == nil {
		return direct{null}
	}
	if f, ok := w.(*os.File); ok && f != nil {
		return direct{f}
	}
	return &output{w: w, lock: lock, many: n > 1}
}
