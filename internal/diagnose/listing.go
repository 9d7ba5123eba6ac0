package diagnose

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// mostListed bounds the lines of a Report, and its sentences are bounded by most.
const mostListed = 40

// Report is what a rank says of itself: what waits there, and the sentences about it and
// the other ranks of the job.
func (j *Job) Report(rank, size int, fabric string) string {
	r := j.rank(rank)
	waits := "nothing waits"
	if n := len(r.Waits) + len(r.Arrived); n > 0 {
		waits = fmt.Sprintf("%d operations and messages wait", n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "weft: rank %d of %d (process %d, fabric %s): %s\n%s", rank, size, os.Getpid(), fabric, waits, j.Listing(r, mostListed))
	for _, s := range j.Sentences() {
		fmt.Fprintf(&b, "  => %s\n", s)
	}
	return b.String()
}

// Listing has a line for each operation and message that waits at a rank, and for the locks
// of its windows, as many at most; "" if there is nothing.
func (j *Job) Listing(r *Rank, most int) string {
	var lines []string
	for k := range r.Waits {
		lines = append(lines, j.line(&r.Waits[k]))
	}
	for _, m := range r.Arrived {
		w := Wait{Kind: Receive, Peer: m.From, Tag: m.Tag, Comm: m.Comm}
		lines = append(lines, fmt.Sprintf("a message of %d bytes without %s", m.Bytes, j.Phrase(&w)))
	}
	for _, w := range r.Windows {
		if len(w.Lock.Held)+len(w.Lock.Waiting) > 0 {
			lines = append(lines, fmt.Sprintf("its lock in %s: held by %s, waited for by %s", j.comm(w.ID), claims(w.Lock.Held), claims(w.Lock.Waiting)))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

func (j *Job) line(w *Wait) string {
	text := j.Phrase(w)
	if w.State != "" {
		text += ": " + w.State
	}
	text += fmt.Sprintf(", for %v", time.Duration(w.Seconds)*time.Second)
	if w.Goroutine > 0 {
		text += ", a goroutine is blocked in it"
	}
	if w.Place != "" {
		text += "\n      " + w.Place
	}
	return text
}

// claims names the claims to a lock.
func claims(list []Claim) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("rank %d (%s)", c.Rank, c.Claim))
	}
	if parts == nil {
		return "nobody"
	}
	return strings.Join(parts, ", ")
}
