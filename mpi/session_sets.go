package mpi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/internal/group"
)

// The process sets that MPI defines (MPI-4.0 §11.3.2). Every session has them.
const (
	PsetWorld = "mpi://WORLD" // all ranks of the job
	PsetSelf  = "mpi://SELF"  // the rank itself
)

// hostSet begins the name of the process set of a host.
const hostSet = "weft://host/"

// Psets lists the names of the process sets (MPI_Session_get_nth_pset, MPI-4.0
// §11.3.3), the same on all ranks but for their groups, in the same order:
// PsetWorld; PsetSelf; and weft://host/NAME for each host of the job, in the order of
// their lowest ranks, with the ranks that run there. NAME is the host's name, or the
// value of WEFT_NODE, escaped as a path segment of a URL; of hosts with one name the
// second is NAME~2, and so on. The sets of a job do not change, nor does their number
// (MPI_Session_get_num_psets, MPI-4.0 §11.3.3). It fails with ErrSession after Finalize.
// Local.
func (s *Session) Psets() ([]string, error) {
	if err := s.check("Session.Psets"); err != nil {
		return nil, err
	}
	return s.w.sets(), nil
}

func (in *instance) sets() []string {
	sets := []string{PsetWorld, PsetSelf}
	seen := map[string]bool{}
	for _, host := range in.hosts {
		if !seen[host] {
			seen[host] = true
			sets = append(sets, hostSet+url.PathEscape(host))
		}
	}
	return sets
}

// PsetInfo tells of a process set: mpi_size, the number of its ranks
// (MPI_Session_get_pset_info, MPI-4.0 §11.3.3). An unknown name is ErrArg. The caller
// owns the result. Local.
func (s *Session) PsetInfo(name string) (*Info, error) {
	ranks, err := s.set("Session.PsetInfo", name)
	if err != nil {
		return nil, err
	}
	return NewInfo("mpi_size", fmt.Sprint(ranks.Len()))
}

// Group is the group of the ranks of a process set, in their order in the job
// (MPI_Group_from_session_pset, MPI-4.0 §7.3.2). An unknown name is ErrArg. Local.
func (s *Session) Group(pset string) (*Group, error) {
	ranks, err := s.set("Session.Group", pset)
	if err != nil {
		return nil, err
	}
	return &Group{in: s.w.engine, of: s.w, ranks: ranks}, nil
}

// Comm makes a communicator of the ranks of a process set, as Group and
// CommCreateFromGroup do: all of them call it, with the same tag. Errors are those of
// Group and CommCreateFromGroup. Non-local.
func (s *Session) Comm(pset, tag string) (*Comm, error) {
	const call = "Session.Comm"
	ranks, err := s.set(call, pset)
	if err != nil {
		return nil, err
	}
	return createFromGroup(call, &Group{in: s.w.engine, of: s.w, ranks: ranks}, tag, CommOptions{})
}

// set is the ranks of a process set.
func (s *Session) set(call, name string) (*group.Map, error) {
	if err := s.check(call); err != nil {
		return nil, err
	}
	all := s.w.engine.World
	switch name {
	case PsetWorld:
		return group.All(all.Size), nil
	case PsetSelf:
		return group.New([]int{all.Rank})
	}
	var ranks []int
	for rank, host := range s.w.hosts {
		if name == hostSet+url.PathEscape(host) {
			ranks = append(ranks, rank)
		}
	}
	if len(ranks) == 0 {
		return nil, s.raise(badArg(call, ErrArg, "there is no process set %q: the nearest is %q; Session.Psets lists all", name, nearest(name, s.w.sets())))
	}
	return group.New(ranks)
}

// nearest is the name that the fewest changes of a letter lead to, whether large or
// small. Of a long name the beginning is compared.
func nearest(name string, names []string) string {
	const most = 128
	plain := func(s string) string { return strings.ToLower(s[:min(len(s), most)]) }
	return slices.MinFunc(names, func(a, b string) int {
		return changes(plain(name), plain(a)) - changes(plain(name), plain(b))
	})
}

// changes is how many bytes have to be inserted, removed or replaced to make b of a.
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0] // of the row before, one to the left
		row[0]++
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}
