package doctor

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A control group bounds what its processes use together, and so do all groups above
// it: the least bound counts. Version 2 has one tree below /sys/fs/cgroup, version 1 a
// tree for each controller (Documentation/admin-guide/cgroup-v2.rst and -v1 in the
// kernel). In a container the tree may begin at the container's group, whatever
// /proc/self/cgroup says.

// groups are the directories of a controller's groups that this process is in, from
// its own up to the root.
func (m *Machine) groups(controller string) (v1, v2 []string) {
	for line := range strings.Lines(m.word("proc/self/cgroup") + "\n") {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[1] == "":
			v2 = upwards("sys/fs/cgroup", fields[2])
		case strings.Contains(","+fields[1]+",", ","+controller+","):
			v1 = append(upwards(path.Join("sys/fs/cgroup", fields[1]), fields[2]), upwards(path.Join("sys/fs/cgroup", controller), fields[2])...)
		}
	}
	return v1, v2
}

func upwards(root, group string) (dirs []string) {
	for g := path.Clean("/" + group); ; g = path.Dir(g) {
		dirs = append(dirs, path.Join(root, g))
		if g == "/" {
			return dirs
		}
	}
}

// quota is how many processors the group may use on average, 0 for no bound.
func (m *Machine) cpuQuota() (processors float64) {
	least := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		p, perr := strconv.ParseFloat(period, 64)
		if err == nil && perr == nil && q > 0 && p > 0 && (processors == 0 || q/p < processors) {
			processors = q / p
		}
	}
	v1, v2 := m.groups("cpu")
	for _, dir := range v2 {
		quota, period, _ := strings.Cut(m.word(path.Join(dir, "cpu.max")), " ")
		least(quota, period) // "max" is no number
	}
	for _, dir := range v1 {
		least(m.word(path.Join(dir, "cpu.cfs_quota_us")), m.word(path.Join(dir, "cpu.cfs_period_us")))
	}
	return processors
}

// bound is the least number in a file of the groups, Unlimited for none.
func (m *Machine) bound(controller, fileV1, fileV2 string) uint64 {
	least := Unlimited
	v1, v2 := m.groups(controller)
	for i, dirs := range [][]string{v1, v2} {
		for _, dir := range dirs {
			n, err := strconv.ParseUint(m.word(path.Join(dir, [...]string{fileV1, fileV2}[i])), 10, 64)
			if err == nil {
				least = min(least, n)
			}
		}
	}
	if least >= 1<<60 { // version 1 writes its lack of a bound as a large number
		return Unlimited
	}
	return least
}

// size is a number of bytes in words.
func size(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	i, v := 0, float64(n)
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + units[i]
}

// count is a number in words.
func count(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}
