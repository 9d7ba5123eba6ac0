package metrics

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/internal/strangers"
	"github.com/weft-mpi/weft/progress/counters"
)

// Reader reads snapshots that ranks of other processes have encoded as JSON, and refuses
// what can't be shown: one rank of another build, or that sends nonsense, then leaves the
// scrapes of the others alone. It is for one goroutine at a time; the zero value is ready.
type Reader struct {
	known map[string]definition // of each family, by the first rank that had it
}

// definition is what all ranks have to agree on about a family.
type definition struct {
	help, unit, labels string
	gauge, histogram   bool
}

// The most that a snapshot may have: a rank has up to 400 series, histograms included.
const (
	maxEncoded  = 1 << 20 // bytes
	maxFamilies = 256
	maxRows     = 1024 // of all families
)

// ownNames are those of families that a rank does not have.
var ownNames = []string{"weft_build_info", "weft_ranks", "weft_snapshot_age_seconds", UpFamily.Name}

// UpFamily is for those who show ranks of other processes: whether each has replied. The
// ranks' own snapshots do not have it.
var UpFamily = counters.Family{Name: "weft_up", Gauge: true,
	Help: "1 if the rank has replied now; 0 if it has not joined the job yet, has left it, or is busy or stopped. Without a label, how many have replied."}

var (
	goodName  = regexp.MustCompile(`^weft_[a-z0-9_]{1,100}$`)
	goodLabel = regexp.MustCompile(`^[a-z][a-z0-9_]{0,50}$`)
)

// Read returns the snapshot that b encodes.
func (r *Reader) Read(b []byte) (s counters.Snapshot, err error) {
	if len(b) > maxEncoded {
		return s, fmt.Errorf("read the counters of a rank: %d bytes are too many: a snapshot has at most %d", len(b), maxEncoded)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return counters.Snapshot{}, fmt.Errorf("read the counters of a rank: %s", strangers.Line(err.Error()))
	}
	if err := r.check(&s); err != nil {
		return counters.Snapshot{}, fmt.Errorf("read the counters of a rank: %w: all ranks, and this command, have to be of one build", err)
	}
	return s, nil
}

// check returns what is wrong with a snapshot. Only of a good one it learns.
func (r *Reader) check(s *counters.Snapshot) error {
	if len(s.Families) > maxFamilies {
		return fmt.Errorf("%d families are too many", len(s.Families))
	}
	rows, all := 0, map[string]definition{}
	for i := range s.Families {
		f := &s.Families[i]
		if rows += len(f.Rows); rows > maxRows {
			return fmt.Errorf("more than %d counts", maxRows)
		}
		d, err := define(f)
		if err != nil {
			return err
		}
		if _, twice := all[f.Name]; twice {
			return fmt.Errorf("there are two families %s", f.Name)
		}
		if was, there := r.known[f.Name]; there && was != d {
			return fmt.Errorf("the family %s is another one than that of an earlier rank", f.Name)
		}
		all[f.Name] = d
	}
	if r.known == nil {
		r.known = map[string]definition{}
	}
	for name, d := range all {
		if len(r.known) < maxFamilies {
			r.known[name] = d
		}
	}
	return nil
}

// define checks a family and returns its definition.
func define(f *counters.Family) (d definition, err error) {
	switch {
	case !goodName.MatchString(f.Name) || slices.Contains(ownNames, f.Name):
		return d, fmt.Errorf("%.120q is no name of a family", f.Name)
	case len(f.Rows) == 0:
		return d, fmt.Errorf("the family %s is empty", f.Name)
	case !goodText(f.Help):
		return d, fmt.Errorf("the help of %s is no text", f.Name)
	case f.Unit != "" && f.Unit != "bytes" && f.Unit != "seconds":
		return d, fmt.Errorf("%s is in %.20q: a unit is bytes or seconds", f.Name, f.Unit)
	}
	for i, l := range f.Labels {
		if !goodLabel.MatchString(l) || l == "rank" || l == "le" || slices.Contains(f.Labels[:i], l) {
			return d, fmt.Errorf("%.60q can't be a label of %s", l, f.Name)
		}
	}
	d = definition{f.Help, f.Unit, strings.Join(f.Labels, ","), f.Gauge, f.Rows[0].Buckets != nil}
	seen := map[string]bool{}
	for _, r := range f.Rows {
		values := strings.Join(r.Values, "\x00")
		switch {
		case len(r.Values) != len(f.Labels):
			return d, fmt.Errorf("%s has %d labels and a count with %d", f.Name, len(f.Labels), len(r.Values))
		case (r.Buckets != nil) != d.histogram:
			return d, fmt.Errorf("%s is a histogram in part", f.Name)
		case seen[values]:
			return d, fmt.Errorf("%s has %.60q twice", f.Name, r.Values)
		case slices.ContainsFunc(r.Values, func(v string) bool { return !goodText(v) }):
			return d, fmt.Errorf("%s has a label that is no text", f.Name)
		}
		seen[values] = true
	}
	return d, nil
}

// goodText reports whether a help or the value of a label is one line, and printable.
func goodText(s string) bool { return strangers.Line(s) == s }
