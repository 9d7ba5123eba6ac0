package launch

import (
	"io"
	"sync"
)

// window is how many bytes of a stream may be on their way between the launcher and an
// agent, besides one line: the one who reads has memory for it, and the one who writes
// waits for credit.
const window = 1 << 20

// overhead is what a frame of output counts besides its text.
const overhead = 64

// relay is the launcher as the destination of an agent's ranks, for one stream.
type relay struct {
	link   *link
	stream byte

	mu     sync.Mutex
	credit *sync.Cond
	out    int  // bytes on their way
	over   bool // the launcher takes nothing any more
}

func newRelay(l *link, stream byte) *relay {
	r := &relay{link: l, stream: stream}
	r.credit = sync.NewCond(&r.mu)
	return r
}

func (r *relay) put(s *stream, text []byte) {
	r.mu.Lock()
	for r.out >= window && !r.over {
		r.credit.Wait()
	}
	r.out += len(text) + overhead
	over := r.over
	r.mu.Unlock()
	if !over {
		r.link.send(kindOutput, said{r.stream, uint32(s.rank), text == nil, text}.append(nil))
	}
}

// lost is nil: the launcher knows.
func (r *relay) lost() error { return nil }

// give takes bytes off those on their way.
func (r *relay) give(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out -= bytes
	r.credit.Broadcast()
}

// end has put drop what comes from now on.
func (r *relay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.credit.Broadcast()
}

// feed is the standard input of rank 0 at its agent, as it comes from the launcher.
type feed struct {
	link *link

	mu    sync.Mutex
	come  *sync.Cond
	bytes []byte
	read  int // since the last credit
	over  bool
}

func newFeed(l *link) *feed {
	f := &feed{link: l}
	f.come = sync.NewCond(&f.mu)
	return f
}

// add takes bytes, or the end of the input.
func (f *feed) add(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(b) == 0 {
		f.over = true
	}
	f.bytes = append(f.bytes, b...)
	f.come.Broadcast()
}

func (f *feed) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.bytes) == 0 && !f.over {
		f.come.Wait()
	}
	n := copy(p, f.bytes)
	if f.bytes = f.bytes[n:]; n == 0 {
		return 0, io.EOF
	}
	if f.read += n; f.read >= window/4 {
		f.link.send(kindCredit, credit{creditIn, uint32(f.read)}.append(nil))
		f.read = 0
	}
	return n, nil
}

// pour sends what r has to the rank's agent, as its credit permits, until done is closed.
// A Read that blocks outlives that.
func pour(l *link, r io.Reader, credits <-chan int, done <-chan struct{}) {
	buf, room := make([]byte, maxInput), window
	for {
		for room <= 0 {
			select {
			case n := <-credits:
				room += n
			case <-done:
				return
			}
		}
		n, err := r.Read(buf[:min(len(buf), room)])
		select {
		case <-done:
			return
		default:
		}
		if n > 0 {
			l.send(kindInput, buf[:n])
			room -= n
		}
		if err != nil {
			l.send(kindInput, nil)
			return
		}
	}
}
