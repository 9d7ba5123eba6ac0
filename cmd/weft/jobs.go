package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/peek"
)

// running is a job of this user with ranks on this host.
type running struct {
	id    string
	uid   uint32
	ranks []peek.Name // of that user: others may take similar names
	peek.About
	pids []int // of the ranks and their launchers
}

// helloTime is how long weft looks for jobs. A stopped rank does not reply.
const helloTime = time.Second

// errNoJob says that there is nothing to ask.
var errNoJob = errors.New("no job of yours runs on this host, or its ranks do not listen (WEFT_PEEK=0)")

// jobs lists the jobs of this user on this host.
func jobs(ctx context.Context) (list []running, err error) {
	names, err := peek.List()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	for _, r := range peek.Ask(ctx, names, "hello") {
		var other *peek.UserError
		if errors.As(r.Err, &other) || r.PID == 0 {
			continue
		}
		at := slices.IndexFunc(list, func(j running) bool { return j.id == r.Name.Job && j.uid == r.UID })
		if at < 0 {
			list, at = append(list, running{id: r.Name.Job, uid: r.UID}), len(list)
		}
		j := &list[at]
		j.ranks = append(j.ranks, r.Name)
		if j.pids = append(j.pids, r.PID); r.Err != nil {
			continue
		}
		if j.pids = append(j.pids, r.Parent); j.Size == 0 {
			j.About = r.About
		}
	}
	return list, nil
}

// String is a line of a list of jobs.
func (j *running) String() string {
	if j.Size == 0 {
		return fmt.Sprintf("%s  %s here, no reply, process %d", short(j.id), numberOf(len(j.ranks), "rank"), j.pids[0])
	}
	ranks := numberOf(j.Size, "rank")
	if len(j.ranks) < j.Size {
		ranks += fmt.Sprintf(" (%d here)", len(j.ranks))
	}
	return fmt.Sprintf("%s  %s, %s, for %v: %s (rank %d is process %d)", short(j.id), ranks, j.Fabric, time.Since(j.Started).Round(time.Second), j.Program, j.Rank, j.PID)
}

func numberOf(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// short is the beginning of a job's id, which is enough to name it.
func short(id string) string { return id[:min(len(id), 8)] }

// pick chooses a job by the beginning of its id, or by the process of a rank or of the
// launcher; without a name it takes the only one.
func pick(list []running, name string) (*running, error) {
	var found []running
	pid, err := strconv.Atoi(name)
	byPID := err == nil && slices.ContainsFunc(list, func(j running) bool { return slices.Contains(j.pids, pid) })
	for _, j := range list {
		if byPID && slices.Contains(j.pids, pid) || !byPID && strings.HasPrefix(j.id, strings.ToLower(name)) {
			found = append(found, j)
		}
	}
	switch {
	case len(list) == 0:
		return nil, errNoJob
	case len(found) == 1:
		return &found[0], nil
	}
	what := fmt.Sprintf("no job has the id or process %q: name one of these", name)
	if len(found) > 1 {
		what = "several jobs run: name one of them, by the beginning of its id or by a process id"
		list = found
	}
	for i := range list {
		what += "\n  " + list[i].String()
	}
	return nil, errors.New(what)
}

// find is pick among the jobs that run now.
func find(ctx context.Context, name string) (*running, error) {
	list, err := jobs(ctx)
	if err != nil {
		return nil, err
	}
	return pick(list, name)
}

// states asks all ranks what they wait for, twice: what both replies have has waited at the
// moment in between.
func (j *running) states(ctx context.Context, wait time.Duration) *diagnose.Job {
	first := j.state(ctx, j.ranks, "pending", wait)
	var names []peek.Name
	for _, r := range first.Ranks {
		if at := j.find(r.Rank); at >= 0 {
			names = append(names, j.ranks[at])
		}
	}
	second := j.state(ctx, names, "settled", wait)
	second.Silent = append(second.Silent, first.Silent...)
	j.absent(second)
	return second.Lasting(first)
}

// state asks some ranks.
func (j *running) state(ctx context.Context, names []peek.Name, ask string, wait time.Duration) *diagnose.Job {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	all := &diagnose.Job{}
	for _, r := range peek.Ask(ctx, names, ask) {
		var s diagnose.Rank
		if err := r.Unmarshal(&s); err != nil || s.Rank != r.Name.Rank {
			all.Silent = append(all.Silent, diagnose.Silent{Rank: r.Name.Rank, Why: silence(&r, err, wait)})
			continue
		}
		all.Ranks = append(all.Ranks, s)
	}
	return all
}

// absent adds the ranks that do not listen here.
func (j *running) absent(all *diagnose.Job) {
	for rank := range j.Size {
		if j.find(rank) >= 0 {
			continue
		}
		why := "on another host: run weft stacks there too"
		if slices.Contains(j.Local, rank) {
			why = "no socket: it has not joined the job yet, has left it, or runs with WEFT_PEEK=0"
		}
		all.Silent = append(all.Silent, diagnose.Silent{Rank: rank, Why: why})
	}
}

// find returns the place of a rank among those that listen, or -1.
func (j *running) find(rank int) int {
	return slices.IndexFunc(j.ranks, func(n peek.Name) bool { return n.Rank == rank })
}

// silence is why a rank has not told its state.
func silence(r *peek.Result, err error, wait time.Duration) string {
	switch {
	case r.Busy > 0:
		return fmt.Sprintf("busy, the owner of its loop has not come for %.1f s", r.Busy)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errEnded.Error()
	case !errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprint(err)
	case stopped(r.PID):
		return fmt.Sprintf("no reply, its process %d is stopped (SIGSTOP, Ctrl-Z or a debugger)", r.PID)
	}
	return fmt.Sprintf("no reply within %v, process %d", wait, r.PID)
}

// stopped reports whether a process is stopped.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // behind the name, see proc(5)
	for strings.Contains(rest, ") ") {
		_, rest, ok = strings.Cut(rest, ") ")
	}
	return ok && (strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t"))
}
