package launch

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/mpi/cause"
)

// maxReports is the most reports of one rank: that it aborts the job, that it
// breaks the protocol, and that it has exited.
const maxReports = 3

// troop is the ranks of a job as the one who stops them sees them.
type troop interface {
	// end tells all ranks that still run to exit, by a signal: what they then fail of
	// counts no more.
	end(sig unix.Signal)
	// send sends a signal to all ranks that have not exited.
	send(sig unix.Signal)
	// kill ends one rank, whose failure counts no more.
	kill(rank int)
	// drop gives up the ranks that SIGKILL has not ended.
	drop()
}

// supervision is the end of a job: who ends, and who is to end because of that.
type supervision struct {
	troop
	live      int // ranks
	reports   <-chan report
	order     func() uint64 // of an event that happens now
	grace     time.Duration
	keepGoing bool
}

// attend serves the ranks until all have exited; see supervise.
func (c *crew) attend(ctx context.Context, control *jobControl) error {
	return c.watch().supervise(ctx, control)
}

// watch begins to serve the ranks.
func (c *crew) watch() *supervision {
	reports := make(chan report, maxReports*len(c.ranks))
	for _, r := range c.ranks {
		r.session.onAbort = func(code byte, why string) {
			reports <- report{rank: r.rank, order: c.ends.Add(1), err: &cause.AbortError{Rank: r.rank, Code: int(code), Why: why}}
		}
		go r.serve(reports)
		go r.reap(reports)
	}
	order := func() uint64 { return c.ends.Add(1) }
	return &supervision{troop: c, live: len(c.ranks), reports: reports, order: order, grace: c.grace, keepGoing: c.keepGoing}
}

// supervise waits until all ranks have exited. It stops them in steps once a
// rank aborts the job, ctx ends or, unless the job is to keep going, a rank
// fails. The errors are those of ctx and of ranks that were not told to exit,
// in their order.
func (v *supervision) supervise(ctx context.Context, control *jobControl) error {
	var (
		failed   = failures{}
		stopping bool   // grace runs, or the ranks have been told to exit
		told     bool   // the ranks have been told to exit
		step     func() // what to do when the grace is over
		grace    = newGraceTimer()
		done     = ctx.Done()
	)
	defer grace.timer.Stop()
	then := func(f func()) {
		stopping, step = true, f
		grace.reset(v.grace)
	}
	end := func(sig unix.Signal) {
		told = true
		v.end(sig)
		then(func() {
			v.end(unix.SIGKILL)
			then(v.drop)
		})
	}
	for live := v.live; live > 0; {
		select {
		case r := <-v.reports:
			if r.ended {
				live--
			}
			if r.err == nil {
				continue
			}
			failed.add(r)
			_, aborts := errors.AsType[*cause.AbortError](r.err)
			switch {
			case told:
			case aborts:
				end(unix.SIGTERM)
			case v.keepGoing && !r.ended && r.rank >= 0:
				// The rank has broken the protocol and still runs. The others
				// wait for the news of its death, so the launcher kills it.
				v.kill(r.rank)
			case !v.keepGoing && !stopping:
				then(func() { end(unix.SIGTERM) })
			}
		case <-done:
			done = nil
			failed.add(report{rank: theJob, order: v.order(), err: fmt.Errorf("launch: job stopped: %w", ended(ctx))})
			sig := unix.SIGTERM
			if by, ok := errors.AsType[*Interrupted](context.Cause(ctx)); ok && by.Signal != unix.SIGHUP {
				sig = by.Signal
			}
			end(sig)
		case <-grace.timer.C:
			grace.armed = false
			step()
		case s := <-control.got:
			follow(v, s, grace)
		}
	}
	return failed.join()
}

// abandon kills the ranks of a job of which one could not be started.
func (c *crew) abandon() {
	c.end(unix.SIGKILL)
	for _, r := range c.ranks {
		r.await() // its exit status says nothing: it was killed
	}
}

// end tells all ranks that still run to exit, by sig.
func (c *crew) end(sig unix.Signal) {
	for _, r := range c.ranks {
		r.tell() // all before the first signal: a rank may fail because another exits
	}
	c.send(sig)
}

// kill ends one rank.
func (c *crew) kill(rank int) {
	for _, r := range c.ranks {
		if r.rank == rank {
			r.tell()
			r.send(unix.SIGKILL)
		}
	}
}

// drop does nothing: the kernel ends what it was told to kill.
func (c *crew) drop() {}

// send sends a signal to all ranks that have not exited.
func (c *crew) send(sig unix.Signal) {
	for _, r := range c.ranks {
		r.send(sig)
	}
}

// tell records that the rank is about to be told to exit, unless it has already
// exited.
func (r *child) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reaped {
		over, err := r.isZombie()
		r.told = r.told || !over && err == nil
	}
}

// send sends sig to the rank's process group, or to the rank if that has moved
// to another group. A rank that has exited meanwhile is no error.
func (r *child) send(sig unix.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reaped {
		return
	}
	if unix.Kill(-r.pid, sig) != nil {
		unix.Kill(r.pid, sig)
	}
}

// wasTold reports whether the rank was told to exit before it did.
func (r *child) wasTold() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

func (r *child) serve(reports chan<- report) {
	r.session.serve()
	if err := r.session.broken; err != nil {
		reports <- report{rank: r.rank, order: r.ends.Add(1), err: &ExitError{Rank: r.rank, Code: -1, Err: err}}
	}
	close(r.served)
}

// reap waits until the rank has exited and its session has returned, then
// reports.
func (r *child) reap(reports chan<- report) {
	status, err := r.await()
	close(r.exited)
	// The bytes that the rank has sent can still be read; after them comes an
	// end of file, even if another process holds the rank's socket open.
	r.conn.CloseRead()
	r.conn.SetWriteDeadline(time.Unix(1, 0))
	<-r.served
	if err != nil {
		err = &ExitError{Rank: r.rank, Code: -1, Err: err}
	} else {
		err = verdict(r.rank, status, r.session.hello && !r.session.bye)
	}
	reason := "exited with code 0"
	if e, ok := errors.AsType[*ExitError](err); ok {
		reason = e.how()
	}
	died := err != nil || !r.session.bye
	r.session.leave(reason)
	if died {
		r.session.news.lost(&cause.LostError{Rank: r.rank, Reason: reason})
	}
	if r.wasTold() {
		err = nil
	}
	reports <- report{rank: r.rank, order: r.order, err: err, ended: true, after: r.session.after}
}

// verdict turns a wait status into nil or an *ExitError. deserted says that
// the rank had joined the job and did not leave it.
func verdict(rank int, s unix.WaitStatus, deserted bool) error {
	switch {
	case s.Signaled():
		return &ExitError{Rank: rank, Code: -1, Signal: s.Signal()}
	case s.ExitStatus() != 0:
		return &ExitError{Rank: rank, Code: s.ExitStatus()}
	case deserted:
		return &ExitError{Rank: rank, Code: 0, Err: ErrNotFinalized}
	}
	return nil
}

// await blocks until the process has exited, kills the rest of its group, then
// reaps it. Until it is reaped it is a zombie, so that no other process or
// group can have its id when the signal is sent.
func (r *child) await() (unix.WaitStatus, error) {
	rc, err := r.pidfd.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("wait: %w", err)
	}
	var failed error
	err = rc.Read(func(uintptr) (over bool) {
		over, failed = r.isZombie()
		failed = limits.Call("waitid", failed)
		return over || failed != nil
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, fmt.Errorf("wait: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = r.ends.Add(1)
	unix.Kill(-r.pid, unix.SIGKILL) // ESRCH if it had moved to another group
	var status unix.WaitStatus
	err = retry(func() error {
		_, err := unix.Wait4(r.pid, &status, 0, nil)
		return err
	})
	r.reaped = true
	if err != nil {
		return 0, fmt.Errorf("wait: %w", limits.Call("wait4", err))
	}
	return status, nil
}

// isZombie reports whether the process has exited and waits to be reaped.
func (r *child) isZombie() (bool, error) {
	var info unix.Siginfo
	err := retry(func() error {
		return unix.Waitid(unix.P_PID, r.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	})
	return info.Signo != 0, err
}

func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
