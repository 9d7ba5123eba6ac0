package launch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// preamble is what an agent writes first. What comes before it is a shell's: a
// greeting of the host, say.
const preamble = "\nweft agent\x00\xb0\x07\n"

// maxNoise is how much may come before the preamble.
const maxNoise = 64 << 10

// beats is how often a peer is expected to be heard in the time that it may be silent.
const beats = 10

// errSilent is the end of a connection over which nothing comes, not even a ping.
var errSilent = errors.New("nothing was heard from it")

// link is a connection between the launcher and an agent, over the standard streams of
// whatever has started the agent: frames both ways (frame.go). Writes are queued, so
// that a peer which does not read holds up nobody. What is long is bounded by credit:
// see relay and feed. It is safe for concurrent use.
//
// A newline behind each frame has Slurm pass it on, which keeps output until the end of
// a line.
type link struct {
	r      *bufio.Reader
	w      io.WriteCloser
	size   int         // of the job; set by the reader, before the first frame that depends on it
	heard  atomic.Bool // stored by read, cleared by watch
	paused atomic.Bool // stored by pause, loaded by watch: the peer is stopped, and may be silent

	mu    sync.Mutex
	queue [][]byte
	busy  bool          // the writer has frames in hand
	more  chan struct{} // has room for one: the queue has grown, or over is set
	idle  chan struct{} // closed when all is written; made anew by send
	over  bool          // nothing is written any more
}

func newLink(r io.Reader, w io.WriteCloser, size int) *link {
	l := &link{r: bufio.NewReaderSize(r, 64<<10), w: w, size: size, more: make(chan struct{}, 1), idle: make(chan struct{})}
	close(l.idle)
	go l.write()
	return l
}

// send queues a frame. It does not block.
func (l *link) send(kind frameKind, payload []byte) {
	l.post(append(appendFrame(make([]byte, 0, frameHeader+len(payload)+1), kind, payload), '\n'))
}

// post queues bytes, which are read-only from here on.
func (l *link) post(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	select {
	case <-l.idle:
		l.idle = make(chan struct{})
	default:
	}
	l.queue = append(l.queue, b)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// write writes what is queued, many frames at a time.
func (l *link) write() {
	var buf []byte
	for range l.more {
		for {
			l.mu.Lock()
			queue := l.queue
			l.queue, l.busy = nil, len(queue) > 0
			if !l.busy {
				l.rest()
			}
			over := l.over
			l.mu.Unlock()
			if over {
				return
			}
			if len(queue) == 0 {
				break
			}
			for i, b := range queue {
				if buf = append(buf, b...); len(buf) < 64<<10 && i < len(queue)-1 {
					continue
				}
				if _, err := l.w.Write(buf); err != nil {
					l.stop()
					return
				}
				buf = buf[:0]
			}
			if cap(buf) > 4*maxLine {
				buf = nil
			}
		}
	}
}

// rest tells who waits in flush. Precondition: l is locked.
func (l *link) rest() {
	select {
	case <-l.idle:
	default:
		close(l.idle)
	}
}

// stop ends the writer. What is queued is dropped.
func (l *link) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over, l.queue = true, nil
	l.rest()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// closed is a channel that is closed.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// flush waits until all is written, or for so long.
func (l *link) flush(patience time.Duration) {
	l.mu.Lock()
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(patience):
	}
}

// read returns the next frame.
func (l *link) read() (frameKind, []byte, error) {
	for {
		b, err := l.r.Peek(1)
		if err != nil {
			return 0, nil, err
		}
		if b[0] != '\n' {
			break
		}
		l.r.Discard(1)
	}
	kind, p, err := readFrame(l.r, l.size)
	l.heard.Store(true)
	return kind, p, err
}

// skip reads up to the end of the preamble. The error has what came instead.
func (l *link) skip() error {
	var noise []byte
	for {
		line, err := l.r.ReadSlice(preamble[len(preamble)-1])
		noise = append(noise, line...)
		if bytes.HasSuffix(noise, []byte(preamble)) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if len(noise) > 0 && errors.Is(err, io.EOF) {
				err = fmt.Errorf("no agent, but %q", clip(string(noise)))
			}
			return err
		}
		if len(noise) > maxNoise {
			return protocolError("no agent, but %q", clip(string(noise)))
		}
	}
}

// pause says whether the peer is stopped.
func (l *link) pause(on bool) { l.paused.Store(on) }

// watch sends pings, and calls silent once nothing has come for so long; 0 is for ever.
// Only time in which this process runs counts: a ticker keeps one tick. It returns when
// done is closed.
func (l *link) watch(silence time.Duration, done <-chan struct{}, silent func()) {
	if silence <= 0 {
		return
	}
	tick := time.NewTicker(max(silence/beats, time.Millisecond))
	defer tick.Stop()
	for missed := 0; ; {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		l.send(kindPing, nil)
		if missed++; l.heard.Swap(false) || l.paused.Load() {
			missed = 0
		}
		if missed >= beats {
			silent()
			return
		}
	}
}

// cut ends the connection: reads and writes fail from here on.
func (l *link) cut() {
	l.stop()
	l.w.Close()
}
