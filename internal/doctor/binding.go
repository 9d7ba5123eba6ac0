package doctor

import (
	"fmt"
	"strings"
)

// binding looks at the processors that weft run binds ranks to, the first ones that it
// may use: whether two of them are threads of one core where there are cores for all.
func (m *Machine) binding() Finding {
	cpus, err := m.Cores()
	if err != nil || m.Ranks > len(cpus) {
		return ok("see processors")
	}
	core := func(cpu int) string { // those that share it
		if s := m.word(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)); s != "" {
			return s
		}
		return fmt.Sprint(cpu) // not shown: each is a core of its own
	}
	var firsts []int // a processor of each core
	seen := map[string]bool{}
	for i, cpu := range cpus {
		if c := core(cpu); !seen[c] {
			seen[c] = true
			firsts = append(firsts, cpu)
		}
		if i == m.Ranks-1 && len(firsts) == m.Ranks {
			return ok("weft run binds each rank to a core of its own: processors " + ranges(cpus[:m.Ranks]))
		}
	}
	bound := "weft run binds ranks to the processors " + ranges(cpus[:m.Ranks])
	if len(firsts) < m.Ranks {
		return ok(bound + fmt.Sprintf(", threads of %s", number(len(firsts), "core")))
	}
	return warn(bound+", of which some are threads of one core, though there are cores for all",
		"taskset -c "+strings.ReplaceAll(ranges(firsts[:m.Ranks]), " ", "")+" weft run, which binds to these")
}
