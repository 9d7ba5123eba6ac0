package rma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// In some programs contexts of calls end, before the call or in it. The call has had no
// effect then, and is made again.

// errEnded is the end of such a context.
var errEnded = errors.New("the context of this call has ended")

// noContext is that of a program which has given none.
var noContext context.Context

// alone calls f, which nothing ends but the end of its rank, when ctx is over.
func alone(ctx context.Context, x *Win, f func() error) error {
	stop := context.AfterFunc(ctx, func() { x.e.loop.Close() })
	defer stop()
	return f()
}

// state is what a call changes, so whether operations are allowed if it has had no
// effect.
type state int

const (
	callOpens   state = iota // there is no epoch before it
	callCloses               // there is one, and still is
	callExposes              // it is not about operations
)

// patiently calls f until it does not end with its context. Between two calls an
// operation with target shows which epoch there is.
func (k *modelRank) patiently(ctx context.Context, s state, x *Win, target int, f func(context.Context) error) error {
	for k.fates != nil && k.fates.IntN(3) == 0 {
		short, cancel := context.WithCancelCause(ctx)
		if turns := k.fates.IntN(6); turns == 0 {
			cancel(errEnded)
		} else {
			go func() {
				for range turns * turns {
					runtime.Gosched()
				}
				cancel(errEnded)
			}()
		}
		err := f(short)
		if !errors.Is(err, errEnded) {
			return err
		}
		if err := x.Do(&Transfer{Target: target}); s != callExposes && (err == nil) != (s == callCloses) {
			return fmt.Errorf("behind a call whose context has ended: %v", err)
		}
	}
	return f(ctx)
}

// lock is Lock or LockAll. One whose context has ended keeps the lock from being taken
// again until its request has ended.
func (k *modelRank) lock(ctx context.Context, x *Win, exclusive bool, target int, a Assert) error {
	again := false
	call := func(ctx context.Context) (err error) {
		for {
			if target == lockEverywhere {
				err = x.LockAll(ctx, a)
			} else {
				err = x.Lock(ctx, exclusive, target, a)
			}
			var sync *SyncError
			if !again || !errors.As(err, &sync) || ctx.Err() != nil {
				break
			}
			runtime.Gosched()
		}
		if again = again || errors.Is(err, errEnded); again && ctx.Err() != nil && err != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
	return k.patiently(ctx, callOpens, x, max(target, 0), call)
}

// unlock is Unlock or UnlockAll, as flush.
func (k *modelRank) unlock(ctx context.Context, x *Win, target int) error {
	if k.fates == nil && target != lockEverywhere {
		return alone(ctx, x, func() error { return x.Unlock(noContext, target) })
	}
	return k.patiently(ctx, callCloses, x, max(target, 0), func(ctx context.Context) error {
		if target == lockEverywhere {
			return x.UnlockAll(ctx)
		}
		return x.Unlock(ctx, target)
	})
}

// flush is Flush. In programs in which no context ends there is none: it waits by itself
// then.
func (k *modelRank) flush(ctx context.Context, x *Win, target int, local bool) error {
	if k.fates == nil {
		return alone(ctx, x, func() error { return x.Flush(noContext, target, local) })
	}
	return k.patiently(ctx, callCloses, x, target, func(ctx context.Context) error { return x.Flush(ctx, target, local) })
}

// look is for the race detector: over a real transport it does not see that what the loop
// of this rank has carried out came before the reply of which this rank has been told.
func (k *modelRank) look() {
	if raceEnabled && !k.dead {
		k.m.g.loops[k.rank].Exclusive(func() {})
	}
}
