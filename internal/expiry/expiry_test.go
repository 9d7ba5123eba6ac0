package expiry

import (
	"context"
	"errors"
	"testing"
)

func TestAContextThatNeverEndsIsNone(t *testing.T) {
	var none context.Context
	if Of(context.Background()) != (Expiry{}) || !Of(none).Never() {
		t.Error("something may end it")
	}
}

// The cause is told beside the context's own error.
func TestTheErrorHasTheCause(t *testing.T) {
	cause := errors.New("a cause")
	ctx, cancel := context.WithCancelCause(context.Background())
	e := Of(ctx)
	if e.Never() || e.Over() || !e.Same(Of(context.WithValue(ctx, e, e))) {
		t.Error("it is over, or another, before its end")
	}
	ended := make(chan bool)
	e.AfterFunc(func() { close(ended) })
	cancel(cause)
	<-ended
	if err := e.Err(); !e.Over() || !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("over %t, with %v", e.Over(), err)
	}
}
