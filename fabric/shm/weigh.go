package shm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/procs"
)

// The cost of a system call differs by a factor of four between machines (least
// on bare metal, most in a virtual machine within another), and so does the size
// from which one call is cheaper than copying twice. So one rank of a host
// measures both ways when it starts, with two threads on two processors, the
// ring, and the call that messages use. It tells the other ranks.

// weighed are the sizes at which both ways are measured, in bytes, by powers of
// two.
var weighed = [...]int{DefaultGetMin, 2 * DefaultGetMin}

// errWeigh is why a size could not be measured.
var errWeigh = errors.New("the processors are too busy")

// Weigh measures the size in bytes from which messages of this machine should be
// read from their sender's memory: once in a process, for some milliseconds on
// two processors. If that fails it returns DefaultGetMin and the reason. Local.
func (Provider) Weigh() (int, error) { return weighOnce() }

var weighOnce = sync.OnceValues(weigh)

func weigh() (int, error) {
	if runtime.NumCPU() < 2 && cpus() < 2 {
		return DefaultGetMin, errors.New("there is one processor")
	}
	defer procs.Borrow(2)() // the two threads need a processor of the runtime's each
	s, err := newScales()
	if err != nil {
		return DefaultGetMin, err
	}
	defer s.close()
	for _, n := range weighed {
		ring, read, err := s.weigh(n)
		if err != nil {
			return DefaultGetMin, err
		}
		// A read leaves the sender's processor alone, and the pieces in a ring cost
		// the engine what is not measured here.
		if read <= ring+ring/4 {
			return n, nil
		}
	}
	return beyond, nil
}

// scales are two threads: the sender's is the caller's, the receiver's its own.
type scales struct {
	tx       *producer
	rx       *consumer
	src, dst []byte
	until    time.Time
	receiver sync.WaitGroup

	size int // of the message under way
	read bool
	err  error // of the receiver

	_       [64]byte
	sent    atomic.Uint32 // messages
	_       [64]byte
	arrived atomic.Uint32
	over    atomic.Bool
}

func newScales() (*scales, error) {
	mem, err := unix.Mmap(-1, 0, offPayload+mostPayload, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map a ring: %w", err)
	}
	largest := weighed[len(weighed)-1]
	s := &scales{
		tx: &producer{ringMem: fullRing(mem)}, rx: &consumer{ringMem: fullRing(mem)},
		src: make([]byte, largest), dst: make([]byte, largest), until: time.Now().Add(weighTime),
	}
	s.receiver.Add(1)
	go s.receive()
	return s, nil
}

func (s *scales) close() {
	s.over.Store(true)
	s.receiver.Wait()
	unix.Munmap(s.tx.mem)
}

// weigh returns how long two messages of n bytes take through the ring and by calls: one
// that the sender has just made, and one that it sends again, whose bytes the receiver
// has in its cache. Programs do both.
func (s *scales) weigh(n int) (ring, read time.Duration, err error) {
	var least [2][2]time.Duration // by way, and by whether it is sent again
	for round := range weighRounds {
		for way := range least {
			for again := range least[way] {
				t, err := s.send(n, way == 1, again == 1)
				if err != nil {
					return 0, 0, err
				}
				if round == 0 || t < least[way][again] {
					least[way][again] = t
				}
			}
		}
	}
	return least[0][0] + least[0][1], least[1][0] + least[1][1], nil
}

// send returns how long a message of n bytes takes until its sender knows that
// it has arrived.
func (s *scales) send(n int, read, again bool) (time.Duration, error) {
	for i := 0; !again && i < n; i += lineSize {
		s.src[i]++
	}
	s.size, s.read = n, read
	number := s.sent.Load() + 1
	start := time.Now()
	s.sent.Store(number)
	for piece := 0; !read && piece < n; piece += pieceSize {
		for !s.tx.put(0, 0, nil, s.src[piece:piece+pieceSize]) {
			if time.Now().After(s.until) {
				return 0, errWeigh
			}
		}
	}
	for i := 0; s.arrived.Load() != number; i++ {
		if i%1024 == 1023 && time.Now().After(s.until) {
			return 0, errWeigh
		}
	}
	return time.Since(start), s.err
}

// receive takes messages until it is over, on another processor than the
// sender's: a rank that is bound to one uses a second. Its thread ends with it.
func (s *scales) receive() {
	defer s.receiver.Done()
	runtime.LockOSThread()
	s.err = leaveCore()
	for number := uint32(1); ; number++ {
		for s.sent.Load() != number {
			if s.over.Load() {
				return
			}
		}
		if s.read {
			if err := readPeer(os.Getpid(), s.dst[:s.size], addressOf(s.src)); err != nil {
				s.err = err
			}
		}
		for got := 0; !s.read && got < s.size && !s.over.Load(); {
			got += s.rx.next(s.dst[got:])
		}
		s.arrived.Store(number)
	}
}

// next takes a message into dst, if there is one, and returns its length.
func (c *consumer) next(dst []byte) int {
	ctl := c.line(c.head).control()
	if uint32(ctl) != uint32(c.head+1) {
		return 0
	}
	n := int(ctl >> ctlBodyShift & ctlBodyMask)
	off, after := c.place(c.payHead, n)
	copy(dst, c.payload(off, n))
	c.payHead = after
	c.head++
	c.tell()
	return n
}

// cpus returns how many processors the calling thread may run on.
func cpus() int {
	set, err := widest()
	if err != nil {
		return 1
	}
	return set.Count()
}

// widest returns the processors that the kernel would permit to a thread of this
// process, whatever it is bound to. It leaves the calling thread as it was.
func widest() (set unix.CPUSet, err error) {
	var all, bound unix.CPUSet
	if err = unix.SchedGetaffinity(0, &bound); err != nil {
		return set, err
	}
	for i := range len(all) * 64 {
		all.Set(i)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err = unix.SchedSetaffinity(0, &all); err == nil {
		err = unix.SchedGetaffinity(0, &set)
	}
	return set, errors.Join(err, unix.SchedSetaffinity(0, &bound))
}

// leaveCore lets the calling thread, which is locked, run on all processors but
// the one that the rest of the process is bound to, if it is bound to one.
func leaveCore() error {
	var bound unix.CPUSet
	if err := unix.SchedGetaffinity(0, &bound); err != nil || bound.Count() > 1 {
		return err
	}
	set, err := widest()
	if err != nil {
		return err
	}
	for i := range len(set) * 64 {
		if bound.IsSet(i) {
			set.Clear(i)
		}
	}
	if set.Count() == 0 {
		return errors.New("there is one processor")
	}
	return unix.SchedSetaffinity(0, &set)
}
