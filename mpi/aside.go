package mpi

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// aside is a logger's handler that the engine may call anywhere: the user's own
// runs on a goroutine apart, one record at a time and in order. It may block,
// panic or call this package without harm to the engine.
type aside struct {
	user slog.Handler
	q    *records
}

// records wait for their handlers.
type records struct {
	mu   sync.Mutex
	list []record
	busy chan struct{} // closed when the list is drained; nil while nobody is at it
}

type record struct {
	to slog.Handler
	r  slog.Record
}

func newAside(user slog.Handler) *aside { return &aside{user, &records{}} }

// Enabled does not ask the user's handler, which drain does.
func (a *aside) Enabled(context.Context, slog.Level) bool { return true }

func (a *aside) WithAttrs(as []slog.Attr) slog.Handler { return &aside{a.user.WithAttrs(as), a.q} }
func (a *aside) WithGroup(name string) slog.Handler    { return &aside{a.user.WithGroup(name), a.q} }

func (a *aside) Handle(_ context.Context, r slog.Record) error {
	q := a.q
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, record{a.user, r.Clone()})
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
	defer func() { recover() }() // there is nobody to tell
	if ctx := context.Background(); r.to.Enabled(ctx, r.r.Level) {
		r.to.Handle(ctx, r.r)
	}
}

// flushTime is how long the end of a World waits for a handler that blocks.
const flushTime = time.Second

// flush waits until all records so far have been handled.
func (q *records) flush() {
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
