package mpi

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/boot"
)

// A fabric joins what its farthest transport reaches, and each rank is reached
// over the nearest that does.
func TestFabricsReachWhatTheirTransportsReach(t *testing.T) {
	t.Setenv("WEFT_FABRIC", "")
	alone := &boot.Job{Size: 1, LocalRanks: []int{0}}
	near := &boot.Job{Size: 3, Rank: 1, LocalRanks: []int{0, 1, 2}}
	far := &boot.Job{Size: 4, Rank: 1, LocalRanks: []int{0, 1}}
	for _, c := range []struct {
		name string
		job  *boot.Job
		want string // the transport of each rank, "" if it is refused
	}{
		{"auto", alone, "mem"}, {"auto", near, "shm shm shm"}, {"auto", far, "shm shm verbs verbs"},
		{"mem", alone, "mem"}, {"mem", near, ""}, {"mem", far, ""},
		{"shm", alone, "shm"}, {"shm", near, "shm shm shm"}, {"shm", far, ""},
		{"verbs", near, "verbs verbs verbs"}, {"verbs", far, "verbs verbs verbs verbs"},
		{"shm+verbs", near, "shm shm shm"}, {"shm+verbs", far, "shm shm verbs verbs"},
	} {
		name, ts, err := choose(c.name, c.job)
		if c.want == "" {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s in a job of %d, %d of them here: %v, want it refused", c.name, c.job.Size, len(c.job.LocalRanks), err)
			}
			continue
		}
		if err != nil || c.name != "auto" && name != c.name {
			t.Errorf("%s: %q, %v", c.name, name, err)
			continue
		}
		var via []string
		for i := range c.job.Size {
			k := slices.IndexFunc(ts, func(tr transport) bool { return tr.reaches(c.job, i, "", "") })
			via = append(via, ts[k].name)
		}
		if got := strings.Join(via, " "); got != c.want {
			t.Errorf("%s reaches the ranks over %s, want %s", c.name, got, c.want)
		}
	}
	apart := transports[1] // as if the ranks were on several machines
	if apart.reaches(near, 0, "a", "b") || !apart.reaches(near, 0, "a", "a") {
		t.Errorf("%s joins nodes of other names, or not those of the same", apart.name)
	}
}

// The names are all ways to join transports, the nearer first, and no others.
func TestTheNamesOfFabrics(t *testing.T) {
	names := Fabrics()
	for _, want := range []string{"auto", "mem", "shm", "verbs", "shm+verbs"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no fabric %s in %v", want, names)
		}
	}
	for _, name := range names {
		if name == auto {
			continue
		}
		ts, err := parse("Init", name)
		if err != nil || !slices.IsSortedFunc(ts, func(a, b transport) int { return int(a.reach) - int(b.reach) }) {
			t.Errorf("%s: %v, %v", name, ts, err)
		}
	}
	for _, wrong := range []string{"", "+", "shm+", "verbs+shm", "shm+shm", "auto+shm", "mem+shm", "tcpip"} {
		if _, err := parse("Init", wrong); !errors.Is(err, ErrArg) {
			t.Errorf("%q: %v, want it refused", wrong, err)
		}
	}
}
