package strangers

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// toldEach is how often an event of one kind is told at most.
const toldEach = time.Minute

// Log tells events that anybody can cause: of each kind the first at once, then one a
// minute at most, with the number of those in between. It is safe for concurrent use.
type Log struct {
	to *slog.Logger

	mu    sync.Mutex
	kinds map[string]*kind // by message
}

type kind struct {
	told   time.Time
	untold int // since then
}

// NewLog returns a Log that tells a logger.
func NewLog(to *slog.Logger) *Log { return &Log{to: to, kinds: map[string]*kind{}} }

// Tell is called for each event. The message is the event's kind, and has nothing in it
// that a stranger says: the arguments may.
func (l *Log) Tell(level slog.Level, msg string, args ...any) {
	if n, ok := l.count(msg); ok {
		if n > 0 {
			args = append(args, "more_since_the_last", n)
		}
		l.to.Log(context.Background(), level, msg, args...)
	}
}

// count returns whether an event is to be told, and with how many others.
func (l *Log) count(msg string) (untold int, tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kinds[msg]
	if k == nil {
		k = new(kind)
		l.kinds[msg] = k
	}
	if !k.told.IsZero() && time.Since(k.told) < toldEach {
		k.untold++
		return 0, false
	}
	untold, k.told, k.untold = k.untold, time.Now(), 0
	return untold, true
}
