package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/record"
	"github.com/weft-mpi/weft/bench/spread"
)

// machine is a machine of the results, and what was measured of it.
type machine struct {
	record.Machine
	versions []string
	files    int
	floors   []floor.Floor // in the order of time
}

// fact is a line of a list of facts.
type fact struct{ Name, Value string }

// machines are those that the documents name.
func machines(sources []source) (all []*machine) {
	timed := slices.Clone(sources)
	slices.SortStableFunc(timed, func(a, b source) int { return when(a).Compare(when(b)) })
	for _, s := range timed {
		if s.head == nil {
			continue
		}
		i := slices.IndexFunc(all, func(m *machine) bool { return m.Machine == s.head.Machine })
		if i < 0 {
			i, all = len(all), append(all, &machine{Machine: s.head.Machine})
		}
		m := all[i]
		m.files++
		if v := shortVersion(s.head.Version); v != "" && !slices.Contains(m.versions, v) {
			m.versions = append(m.versions, v)
		}
		if s.floor != nil {
			m.floors = append(m.floors, *s.floor)
		}
	}
	return all
}

func when(s source) time.Time {
	if s.head == nil {
		return time.Time{}
	}
	return s.head.When
}

// facts describe the machine.
func (m *machine) facts() []fact {
	f := []fact{
		{"Processor", cmp.Or(m.CPU, "unknown")},
		{"Cores", fmt.Sprint(m.Cores)},
		{"Kernel", strings.TrimSpace(m.OS + " " + m.Kernel)},
		{"Go", strings.TrimSpace(m.Go + " " + m.Arch)},
		{"Weft", strings.Join(m.versions, ", ")},
		{"Files", fmt.Sprint(m.files)},
	}
	if len(m.floors) == 0 {
		return f
	}
	var lines []spread.Spread
	for _, l := range m.floors {
		lines = append(lines, l.LineNs)
	}
	all := together(lines)
	cores := m.floors[0].CPUs
	f = append(f, fact{"Cache line", fmt.Sprintf("%s ns between cores %d and %d", figure(point{v: all}), cores[0], cores[1])})
	for _, c := range m.copies() {
		f = append(f, fact{"Copy of " + osufmt.SizeName(c.size), figure(c) + " GB/s on one core"})
	}
	return f
}

// copies are the rates of one core, over all measurements.
func (m *machine) copies() []point {
	at := map[int][]spread.Spread{}
	for _, f := range m.floors {
		for _, c := range f.Copies {
			at[c.Size] = append(at[c.Size], c.GBs)
		}
	}
	return pooled(at)
}

// panels are the machine's limits: the cache line in the order of the
// measurements, which shows how it drifts, and the copies.
func (m *machine) panels() []panel {
	if len(m.floors) == 0 {
		return nil
	}
	drift := series{name: "one cache line"}
	for i, f := range m.floors {
		drift.points = append(drift.points, point{i + 1, f.LineNs})
	}
	return []panel{
		{title: "Cache line from core to core", unit: "ns", better: osufmt.Lower, first: "Measurement", series: []series{drift}, inTime: true},
		{title: "Copy on one core", unit: "GB/s", better: osufmt.Higher, first: "Bytes copied", series: []series{{name: "one core", points: m.copies()}}},
	}
}

// places says where the ranks of a job ran.
func places(j *record.Job) string {
	if j == nil {
		return ""
	}
	s := fmt.Sprintf("%d", j.Ranks)
	if len(j.Places) == 0 {
		return s
	}
	hosts := map[string]bool{}
	for _, p := range j.Places {
		hosts[p.Host] = true
	}
	var cores []string
	for _, p := range j.Places {
		c := p.Cores
		if len(hosts) > 1 {
			c = p.Host + ":" + c
		}
		cores = append(cores, c)
	}
	const most = 16
	if len(cores) > most {
		cores = append(cores[:most], "…")
	}
	if len(slices.Compact(slices.Clone(cores))) == 1 {
		return s + ", each on " + cores[0]
	}
	return s + ", on " + strings.Join(cores, " / ")
}
