package scrape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// rankTime is how long a scrape waits for one rank. A busy one says so after a tenth of
// it, a stopped one says nothing.
const rankTime = time.Second

// ranks are the ranks of a job. It is safe for concurrent use.
type ranks struct {
	warn func(error)

	mu     sync.Mutex
	names  []peek.Name
	rank   []rank // by number
	reader metrics.Reader
	warned bool
}

// rank is what is known of a rank. A scrape that has begun before the rank has left must
// not make it one that is here: place tells replies of before apart.
type rank struct {
	last  counters.Snapshot // that it has told last
	gone  bool              // it has left the job, or ended
	place int               // how often it has left
}

// begin names the ranks.
func (r *ranks) begin(id string, key peek.Key, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rank = make([]rank, n)
	for i := range n {
		r.names = append(r.names, peek.NameOf(key, id, i))
	}
}

// snapshots asks all ranks, and returns what they say, or else have said last.
func (r *ranks) snapshots() map[int]counters.Snapshot {
	r.mu.Lock()
	names, before := r.names, slices.Clone(r.rank)
	r.mu.Unlock()
	results := peek.AskEach(context.Background(), rankTime, names, "snapshot")
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[int]counters.Snapshot, len(names))
	for i := range results {
		up := false
		switch k := &r.rank[i]; {
		case k.place != before[i].place: // what it has said as it left is newer
		case errors.Is(results[i].Err, syscall.ECONNREFUSED):
			k.gone = true
		default:
			up = r.take(i, &results[i])
		}
		all[i] = r.rank[i].shown(up)
	}
	return all
}

// take keeps what a rank has said, if it has said it. The caller has the lock.
func (r *ranks) take(i int, result *peek.Result) bool {
	if result.Err != nil || result.Error != "" || result.Busy > 0 {
		return false
	}
	if result.UID != 0 && result.UID != uint32(os.Geteuid()) {
		return false // root could ask it: but it may be a stranger, who has taken the name
	}
	s, err := r.reader.Read(result.Body)
	if err != nil {
		if !r.warned {
			r.warned = true
			r.warn(fmt.Errorf("the counters of rank %d are not shown: %w", i, err))
		}
		return false
	}
	r.rank[i].last, r.rank[i].gone = s, false
	return true
}

// leave keeps the counters that a rank has told as it has left.
func (r *ranks) leave(result peek.Result) {
	i := result.Name.Rank
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < len(r.rank) && r.take(i, &result) {
		r.rank[i].gone = true
		r.rank[i].place++
	}
}

// left is the snapshots of all ranks behind the end of the job.
func (r *ranks) left() map[int]counters.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[int]counters.Snapshot, len(r.rank))
	for i := range r.rank {
		r.rank[i].gone = true
		all[i] = r.rank[i].shown(false)
	}
	return all
}

// shown is what there is to show of a rank. Of one that is gone it is what has happened,
// so that a sum over the ranks does not fall, and not what there was at that time.
func (k *rank) shown(up bool) (s counters.Snapshot) {
	for _, f := range k.last.Families {
		if k.gone && f.Gauge && !strings.HasSuffix(f.Name, "_max") {
			continue
		}
		s.Families = append(s.Families, f)
	}
	one := map[bool]uint64{true: 1}[up]
	s.Add(metrics.UpFamily, one)
	return s
}
