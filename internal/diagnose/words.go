package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Ranks names ranks: "rank 3", "ranks 0 to 2 and 5".
func Ranks(ranks []int) string {
	ranks = slices.Clone(ranks)
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	var rs [][2]int
	for _, r := range ranks {
		if last := len(rs) - 1; last >= 0 && rs[last][1] == r-1 {
			rs[last][1] = r
		} else {
			rs = append(rs, [2]int{r, r})
		}
	}
	return plural(ranks, "rank ", "ranks ") + runs(rs)
}

func enumerate(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// runs names numbers from first to last: "3 to 7 and 9".
func runs(rs [][2]int) string {
	var parts []string
	for _, r := range rs {
		switch r[1] - r[0] {
		case 0:
			parts = append(parts, fmt.Sprint(r[0]))
		case 1:
			parts = append(parts, fmt.Sprint(r[0]), fmt.Sprint(r[1]))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", r[0], r[1]))
		}
	}
	return enumerate(parts)
}

// plural is one for one rank and many for several.
func plural(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return one
	}
	return many
}

func tagWords(tag int) string {
	if tag == AnyTag {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

func rankWords(rank int) string {
	if rank == AnyRank {
		return "any rank"
	}
	return fmt.Sprintf("rank %d", rank)
}

// comm names a communicator or a window.
func (j *Job) comm(id uint32) string {
	c := j.commOf(id)
	what := "communicator"
	if c != nil && c.Window {
		what = "window"
	}
	switch {
	case c == nil || c.Name == "":
		return fmt.Sprintf("the %s of context %d", what, id)
	case strings.HasPrefix(c.Name, "MPI_"):
		return c.Name
	}
	return fmt.Sprintf("%s %q", what, c.Name)
}

// commOf is the communicator of an id as one of its ranks has it, or nil.
func (j *Job) commOf(id uint32) (found *Comm) {
	for i := range j.Ranks {
		if c := j.Ranks[i].comm(id); c != nil && (found == nil || found.Name == "") {
			found = c
		}
	}
	return found
}

func (r *Rank) comm(id uint32) *Comm {
	if i := slices.IndexFunc(r.Comms, func(c Comm) bool { return c.ID == id }); i >= 0 {
		return &r.Comms[i]
	}
	return nil
}

// callWords names a collective call: that of a window's communicator is a fence's.
func (j *Job) callWords(comm uint32, call string, number uint32) string {
	c := j.commOf(comm)
	switch {
	case strings.HasPrefix(call, Last) && c != nil && c.Name == "MPI_COMM_WORLD":
		return "Finalize"
	case strings.HasPrefix(call, Last):
		return "Disconnect of " + j.comm(comm)
	case c != nil && c.Window:
		return fmt.Sprintf("Fence or Free of %s (barrier number %d)", j.comm(comm), number)
	}
	return fmt.Sprintf("%s, number %d of %s", call, number, j.comm(comm))
}

// Phrase names an operation.
func (j *Job) Phrase(w *Wait) string {
	bytes := fmt.Sprintf("%d bytes", w.Bytes)
	match := fmt.Sprintf("%s, %s, %s", rankWords(w.Peer), tagWords(w.Tag), j.comm(w.Comm))
	switch w.Kind {
	case Send:
		return fmt.Sprintf("a send to %s, %s", match, bytes)
	case Receive:
		return "a receive from " + match
	case Probe:
		return "a probe of " + match
	case Collective:
		return j.callWords(w.Comm, w.Call, w.Number)
	case Lock:
		if w.Global && w.Claim == "shared" {
			return "LockAll of " + j.comm(w.Comm)
		}
		return fmt.Sprintf("Lock of %s", j.comm(w.Comm))
	case Start:
		return "Start in " + j.comm(w.Comm)
	case Close:
		return "Wait in " + j.comm(w.Comm)
	case PartitionSend:
		return fmt.Sprintf("a partitioned send to %s, %s in %d partitions", match, bytes, w.Partitions)
	case PartitionRecv:
		return fmt.Sprintf("a partitioned receive from %s, %s in %d partitions", match, bytes, w.Partitions)
	}
	if w.What != "" {
		return w.What
	}
	return "an operation"
}

// Doing says what a rank is blocked in.
func (j *Job) Doing(rank int) string { return j.doingAll([]int{rank}) }

// WaitsFor says for whom a rank waits in the call that it has been in the longest, and
// since when; "" if it is in none.
func (j *Job) WaitsFor(rank int) (words string, seconds int) {
	r := j.rank(rank)
	if r == nil {
		return "", 0
	}
	w := r.longest()
	if w == nil {
		return "", 0
	}
	needs := j.needs(rank, w)
	switch {
	case w.Any || w.Peer == AnyRank && w.Unmatched:
		words = "any rank"
	case len(needs) > 0:
		words = Ranks(needs)
	case w.Peer >= 0:
		words = rankWords(w.Peer)
	}
	return strings.TrimPrefix(words+": "+j.Phrase(w), ": "), w.Seconds
}

// longest is the operation that a goroutine of the rank has been blocked in the longest,
// or nil.
func (r *Rank) longest() (found *Wait) {
	for i := range r.Waits {
		if w := &r.Waits[i]; w.Goroutine > 0 && (found == nil || w.Seconds > found.Seconds) {
			found = w
		}
	}
	return found
}

// since says how long the operation has waited and where the program has called it.
func since(w *Wait) string {
	text := ""
	if w.Seconds > 0 {
		text = fmt.Sprintf(", for %v", time.Duration(w.Seconds)*time.Second)
	}
	if w.Place != "" {
		text += " (" + w.Place + ")"
	}
	return text
}
