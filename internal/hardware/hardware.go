// Package hardware says which parts of a machine a process may use: packages, NUMA
// nodes, caches and cores, with the names that hwloc gives them.
//
// It reads what Linux shows of the processors below /sys/devices/system, for
// mpi.SplitType, and writes nothing. What is not shown, as on a machine without an L3
// cache or in a container without sysfs, is not there.
package hardware

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Types are the types of resources, from the outside in.
var Types = [...]string{"Package", "NUMANode", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"}

// Place is one number for each of Types: that of the one resource of the type that a
// process uses, or None. Numbers are below MaxCPUs, and two processes of one machine
// have the same one if they use the same resource.
type Place [len(Types)]int

// None is the number where a process uses several resources of a type, or where
// there is none.
const None = -1

// MaxCPUs is more than the number of any processor.
const MaxCPUs = 1 << 20

// Find returns the place of a process that may run on cpus. root is
// /sys/devices/system. Of processors that are offline nothing is used. Local.
func Find(root fs.FS, cpus []int) (p Place) {
	for i := range p {
		p[i] = None
	}
	online, known := readList(root, "cpu/online")
	used := slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return known && !slices.Contains(online, cpu) })
	if len(used) == 0 {
		return p
	}
	of := sharing(root, used[0], online)
	for i, t := range Types {
		all := of[t]
		if len(all) > 0 && !slices.ContainsFunc(used, func(cpu int) bool { return !slices.Contains(all, cpu) }) {
			p[i] = slices.Min(all) // of a resource only one processor is the first
		}
	}
	return p
}

// sharing returns the processors that share a resource with one, by its type.
func sharing(root fs.FS, cpu int, online []int) map[string][]int {
	dir := fmt.Sprintf("cpu/cpu%d/", cpu)
	of := map[string][]int{"PU": {cpu}}
	first := func(t string, names ...string) { // newer kernels have the first name
		for _, name := range names {
			if list, ok := readList(root, name); ok && of[t] == nil {
				of[t] = list
			}
		}
	}
	first("Package", dir+"topology/package_cpus_list", dir+"topology/core_siblings_list")
	first("Core", dir+"topology/core_cpus_list", dir+"topology/thread_siblings_list")
	caches, _ := fs.Glob(root, dir+"cache/index*")
	for _, cache := range caches {
		if kind := readWord(root, cache+"/type"); kind == "Data" || kind == "Unified" {
			first("L"+readWord(root, cache+"/level")+"Cache", cache+"/shared_cpu_list")
		}
	}
	nodes, _ := fs.Glob(root, "node/node[0-9]*")
	for _, node := range nodes {
		if list, _ := readList(root, node+"/cpulist"); slices.Contains(list, cpu) {
			first("NUMANode", node+"/cpulist")
		}
	}
	if len(nodes) == 0 { // a kernel without NUMA: all memory is equally near
		of["NUMANode"] = online
	}
	return of
}

func readWord(root fs.FS, name string) string {
	b, _ := fs.ReadFile(root, name) // what can't be read is not there
	return strings.TrimSpace(string(b))
}

// readList reads a list of processors such as 0-3,8 (cpumap_print_to_pagebuf in the
// kernel's include/linux/cpumask.h). It reports whether there is one.
func readList(root fs.FS, name string) (cpus []int, ok bool) {
	text := readWord(root, name)
	if text == "" {
		return nil, false
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, is := strings.Cut(part, "-")
		if !is {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last < first || last >= MaxCPUs {
			return nil, false
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, true
}
