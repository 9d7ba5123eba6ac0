package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
)

// result is what became of a run.
type result struct {
	hangs, wrong, leaks []string // in words; none if all is well
	slowest             delay    // of the operations that have failed because of the death
	told                bool     // there is one
	text                string   // what the ranks have printed
}

// delay is how long an operation took to fail, and which it was.
type delay struct {
	time.Duration
	op string
}

func (r *result) failed() bool { return len(r.hangs)+len(r.wrong)+len(r.leaks) > 0 }

// buffer is a bytes.Buffer that is read while the job still writes to it.
type buffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(text)
}

func (b *buffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.String()
}

// errHung is the cause of a job's end at the hang limit. Its SIGQUIT makes the
// ranks say what they wait for.
type errHung struct {
	launch.Interrupted
	limit time.Duration
}

func (e *errHung) Error() string { return fmt.Sprintf("not over after %v", e.limit) }
func (e *errHung) Unwrap() error { return &e.Interrupted }

// do carries out a run. limit is when it hangs.
func (s spec) do(ctx context.Context, limit time.Duration) (r result, err error) {
	exe, err := os.Executable()
	if err != nil {
		return r, err
	}
	if s.Dir, err = os.MkdirTemp("", "weft-faults"); err != nil {
		return r, err
	}
	defer os.RemoveAll(s.Dir)
	text, err := json.Marshal(s)
	if err != nil {
		return r, err
	}
	var stdout, stderr buffer
	l := launch.Launch{N: size, Path: exe, Env: append(os.Environ(), runVar+"="+string(text)), Bind: launch.BindAuto,
		KeepGoing: true, Stdout: &stdout, Stderr: &stderr, Label: true}
	shm, before := sharedMemory(), inventory()
	over, stop := context.WithTimeoutCause(ctx, limit, &errHung{launch.Interrupted{Signal: syscall.SIGQUIT}, limit})
	err = l.Run(over)
	stop()
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if hung, ok := errors.AsType[*errHung](err); ok {
		r.hangs = append(r.hangs, hung.Error())
	} else {
		r.wrong = s.exits(err)
	}
	addrs := s.read(&r, stdout.String())
	r.leaks = append(r.leaks, leftovers(shm, addrs)...)
	r.leaks = append(r.leaks, orphans()...)
	r.leaks = append(r.leaks, leaks("launcher", before)...)
	r.text = strings.TrimSpace(fmt.Sprintf("%v\n%s%s", err, stdout.String(), stderr.String()))
	return r, nil
}

// exits judges how the ranks of a job have ended.
func (s spec) exits(err error) (wrong []string) {
	all := []error{err}
	if e, ok := err.(interface{ Unwrap() []error }); ok {
		all = e.Unwrap()
	}
	killed := false
	for _, err := range all {
		exit, ok := errors.AsType[*launch.ExitError](err)
		if ok && exit.Rank == s.victim() && exit.Signal == syscall.SIGKILL {
			killed = true
		} else if err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if !killed {
		wrong = append(wrong, fmt.Sprintf("rank %d was not killed", s.victim()))
	}
	return wrong
}

// read takes in what the ranks have printed and returns the addresses of their
// domains.
func (s spec) read(r *result, text string) (addrs []string) {
	var killed int64
	reports := map[int]*report{}
	for l := range strings.Lines(text) {
		var said line
		_, text, _ := strings.Cut(l, ": ") // behind the label
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			r.wrong = append(r.wrong, fmt.Sprintf("a rank says %q", l))
			continue
		}
		killed = max(killed, said.Killed)
		if said.Report != nil {
			reports[said.Rank] = said.Report
		}
	}
	if killed == 0 {
		r.wrong = append(r.wrong, "the point of the kill was not reached")
	}
	var silent []int
	for rank := range size {
		its := reports[rank]
		if its == nil {
			if rank != s.victim() {
				silent = append(silent, rank)
			}
			continue
		}
		r.wrong = append(r.wrong, its.Wrong...)
		r.leaks = append(r.leaks, its.Leaks...)
		addrs = append(addrs, its.Addrs...)
		for _, op := range its.Ops {
			if d := time.Duration(op.End - max(op.Begin, killed)); !r.told || d > r.slowest.Duration {
				r.slowest = delay{d, fmt.Sprintf("rank %d: %s", rank, op.Name)}
			}
			r.told = true
		}
	}
	switch {
	case len(silent) > 0 && len(r.hangs) > 0:
		r.hangs[0] += fmt.Sprintf(": ranks %v", silent)
	case len(silent) > 0:
		r.wrong = append(r.wrong, fmt.Sprintf("ranks %v did not report", silent))
	}
	slices.Sort(addrs)
	return addrs
}
