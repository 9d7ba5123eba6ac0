package timeline

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Kind is what a span is about.
type Kind uint8

const (
	Send Kind = iota + 1 // a message that leaves: from its call to its completion
	Recv                 // a message that is received: from its call to its completion
	Wait                 // a goroutine waits for requests
	Park                 // and sleeps meanwhile; Seq is that of the Wait
	Call                 // a goroutine is in a call that has waits within: a collective one
	Op                   // another operation, from its start to its completion
	Look                 // the progress thread works
)

// Span is something that has taken time at a rank. Times are of Now.
type Span struct {
	Begin, End int64
	// Announced is when a message, or its announcement, has left, or when it has come;
	// Moving is when its bytes began to be read, written or sent in pieces. 0: never.
	Announced, Moving int64

	Bytes uint64
	Seq   uint64 // of a message: its number among those from its sender to its receiver, from 1 on; of a Wait and a Park: the wait's
	Peer  int32  // rank of the job, or negative
	Tag   int32
	// Context is that of a communicator, and odd for calls of the library and what they do
	// within: a span of such a context lies within the Call of it that is around it.
	Context uint32
	Count   uint32 // requests of a Wait, or the number of a Call in its communicator
	Name    Name
	Path    Name // protocol or algorithm
	Kind    Kind
	Failed  bool
}

// Name is a string of a Log.
type Name uint16

// Log is what a rank records. It is safe for concurrent use. A nil Log records nothing.
type Log struct {
	mu      sync.Mutex
	limit   int
	spans   []Span // a ring once it has limit
	oldest  int
	dropped uint64
	waits   uint64
	known   map[string]Name
	names   []string
}

// mostNames bounds the names of a Log. Further ones are "other".
const mostNames = 1 << 12

// NewLog makes a Log of the last limit spans, which take 88 bytes each. Memory is taken
// as they come.
func NewLog(limit int) *Log {
	l := &Log{limit: max(limit, 1), known: map[string]Name{}}
	l.Name("other")
	return l
}

// Add records a span.
func (l *Log) Add(s Span) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.spans) < l.limit {
		l.spans = append(l.spans, s)
		return
	}
	l.spans[l.oldest] = s
	l.oldest = (l.oldest + 1) % l.limit
	l.dropped++
}

// NextWait returns a number for a wait, from 1 on.
func (l *Log) NextWait() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits++
	return l.waits
}

// Name returns the Name of a string. Names are few: they say what kind of thing a span is.
func (l *Log) Name(s string) Name {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.known[s]; ok {
		return n
	}
	if len(l.names) == mostNames {
		return 0
	}
	n := Name(len(l.names))
	l.names = append(l.names, s)
	l.known[s] = n
	return n
}

// Spans copies what is recorded, in the order of recording, and the names, and returns
// how many older spans were dropped.
func (l *Log) Spans() (all []Span, names []string, dropped uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = append(slices.Clone(l.spans[l.oldest:]), l.spans[:l.oldest]...)
	return all, slices.Clone(l.names), l.dropped
}

var origin = time.Now()

// Now is the time in nanoseconds since the process began: CLOCK_MONOTONIC less a constant.
func Now() int64 { return int64(time.Since(origin)) }

// Monotone is CLOCK_MONOTONIC now, in nanoseconds, or 0 without one.
func Monotone() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// Monotonic is what is added to Now for CLOCK_MONOTONIC, which all processes of a host
// share, and by how much it may be wrong. Both are in nanoseconds.
func Monotonic() (add, within int64) {
	within = int64(time.Hour)
	for range 16 { // the narrowest of some is not one that was interrupted
		before := Now()
		t := Monotone()
		if width := Now() - before; width < within {
			add, within = t-before-width/2, width
		}
	}
	return add, (within + 1) / 2
}
