package diagnose

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// LogQueue is a slog.Handler that the engine may call anywhere, even while it owns
// a loop: it queues the record and returns. The user's handler runs on a
// goroutine of its own, one record at a time and in order. There it may block,
// panic, or call package mpi. It is safe for concurrent use.
type LogQueue struct {
	user slog.Handler
	q    *records
}

// records are queued for their handlers.
type records struct {
	mu   sync.Mutex
	list []record
	busy chan struct{} // closed when the list is drained; nil while no goroutine drains it
}

type record struct {
	to slog.Handler
	r  slog.Record
}

// NewLogQueue returns a handler that passes its records on to user. Local.
func NewLogQueue(user slog.Handler) *LogQueue { return &LogQueue{user, &records{}} }

// Enabled returns true: the user's handler is called where it may block.
func (h *LogQueue) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs and WithGroup share the queue of h, so that records of both keep
// their order.
func (h *LogQueue) WithAttrs(as []slog.Attr) slog.Handler {
	return &LogQueue{h.user.WithAttrs(as), h.q}
}

// WithGroup is described at WithAttrs.
func (h *LogQueue) WithGroup(name string) slog.Handler { return &LogQueue{h.user.WithGroup(name), h.q} }

// Handle queues a copy of r and does not block. The error is nil.
func (h *LogQueue) Handle(_ context.Context, r slog.Record) error {
	q := h.q
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, record{h.user, r.Clone()})
	if q.busy == nil {
		q.busy = make(chan struct{})
		go q.drain()
	}
	return nil
}

func (q *records) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		next := q.list[0]
		q.list = q.list[1:]
		q.mu.Unlock()
		next.handle()
		q.mu.Lock()
	}
	close(q.busy)
	q.busy, q.list = nil, nil
}

func (r record) handle() {
	defer func() { recover() }() // a handler that panics can't be logged
	if ctx := context.Background(); r.to.Enabled(ctx, r.r.Level) {
		r.to.Handle(ctx, r.r)
	}
}

// flushTime is how long Flush waits for a handler that blocks.
const flushTime = time.Second

// Flush blocks until all records so far have been handled, for a second at most.
func (h *LogQueue) Flush() {
	q := h.q
	q.mu.Lock()
	busy := q.busy
	q.mu.Unlock()
	if busy == nil {
		return
	}
	select {
	case <-busy:
	case <-time.After(flushTime):
	}
}
