package diagnose

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// sink is a user's handler that blocks, panics, or keeps what it is told.
type sink struct {
	least slog.Level
	block chan struct{} // nil: it does not block
	lines *[]string
}

func (s sink) Enabled(_ context.Context, l slog.Level) bool { return l >= s.least }
func (s sink) WithGroup(string) slog.Handler                { return s }
func (s sink) WithAttrs(as []slog.Attr) slog.Handler        { return s }
func (s sink) Handle(_ context.Context, r slog.Record) error {
	if s.block != nil {
		<-s.block
	}
	if r.Message == "panic" {
		panic(r.Message)
	}
	*s.lines = append(*s.lines, r.Message)
	return nil
}

func TestRecordsComeInOrderAndOneAtATime(t *testing.T) {
	var lines, want []string
	q := NewLogQueue(sink{slog.LevelInfo, nil, &lines})
	log := slog.New(q)
	other := log.With("rank", 1).WithGroup("fabric")
	for i := range 100 {
		text := fmt.Sprint(i)
		want = append(want, text)
		if log.Debug("below the user's level"); i%2 == 0 {
			log.Info(text)
		} else {
			other.Warn(text)
		}
		if i == 50 {
			log.Error("panic")
		}
	}
	q.Flush()
	if !slices.Equal(lines, want) {
		t.Errorf("the handler has got %v", lines)
	}
}

// Neither a record nor the end of a World waits for a handler that blocks.
func TestAHandlerThatBlocksHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		block := make(chan struct{})
		q := NewLogQueue(sink{slog.LevelInfo, block, &lines})
		slog.New(q).Info("first")
		slog.New(q).Info("second")
		start := time.Now()
		if q.Flush(); time.Since(start) != flushTime {
			t.Errorf("Flush has waited for %v, want %v", time.Since(start), flushTime)
		}
		close(block)
		start = time.Now()
		if q.Flush(); time.Since(start) != 0 || len(lines) != 2 {
			t.Errorf("after %v the handler has got %v", time.Since(start), lines)
		}
		if q.Flush(); len(lines) != 2 { // with nothing to wait for
			t.Error("a record was handled twice")
		}
	})
}
