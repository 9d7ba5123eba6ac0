package hardware

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// tree makes a file system of names and contents.
func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1] + "\n")}
	}
	return m
}

// add describes a processor: the lists of those it shares its package, its core and
// its caches L1 to L3 with; none of an empty one.
func add(m fstest.MapFS, cpu int, pkg, core string, caches ...string) {
	dir := fmt.Sprintf("cpu/cpu%d/", cpu)
	put := func(name, text string) {
		if text != "" {
			m[dir+name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	put("topology/package_cpus_list", pkg)
	put("topology/core_cpus_list", core)
	put("cache/index9/level", "1") // of instructions: no data cache
	put("cache/index9/type", "Instruction")
	put("cache/index9/shared_cpu_list", "0-99")
	for i, list := range caches {
		put(fmt.Sprintf("cache/index%d/level", i), fmt.Sprint(i+1))
		put(fmt.Sprintf("cache/index%d/type", i), []string{"Data", "Unified"}[min(i, 1)])
		put(fmt.Sprintf("cache/index%d/shared_cpu_list", i), list)
	}
}

// twoPackages has two packages of two cores of two threads: 0 and 4 are one core, and
// so on. 7 is offline.
func twoPackages() fstest.MapFS {
	m := tree("cpu/online", "0-6", "node/node0/cpulist", "0-1,4-5", "node/node1/cpulist", "2-3,6", "node/node2/cpulist", "")
	for cpu, core := range []string{"0,4", "1,5", "2,6", "3", "0,4", "1,5", "2,6"} {
		pkg := "0-1,4-5"
		if cpu%4 > 1 {
			pkg = "2-3,6"
		}
		add(m, cpu, pkg, core, core, core, pkg)
	}
	return m
}

func TestAPlaceIsWhatAProcessUsesAlone(t *testing.T) {
	small := tree("cpu/online", "0-1") // no L3, no NUMA
	for cpu := range 2 {
		add(small, cpu, "0-1", fmt.Sprint(cpu), fmt.Sprint(cpu), "0-1")
	}
	old := tree("cpu/online", "0-1", "cpu/cpu0/topology/core_siblings_list", "0-1", "cpu/cpu0/topology/thread_siblings_list", "0", "node/node0/cpulist", "0-1")
	broken := tree("cpu/online", "0-1", "cpu/cpu0/topology/package_cpus_list", "0-", "cpu/cpu0/topology/core_cpus_list", "3-1",
		"node/node0/cpulist", "0-99999999", "cpu/cpu0/cache/index0/level", "", "cpu/cpu0/cache/index0/type", "Data", "cpu/cpu0/cache/index0/shared_cpu_list", "0")
	for _, c := range []struct {
		name string
		root fstest.MapFS
		cpus []int
		want Place // Package, NUMANode, L3, L2, L1, Core, PU
	}{
		{"a processor", twoPackages(), []int{5}, Place{0, 0, 0, 1, 1, 1, 5}},
		{"both threads of a core", twoPackages(), []int{2, 6}, Place{2, 2, 2, 2, 2, 2, None}},
		{"a core whose other thread is offline", twoPackages(), []int{3, 7}, Place{2, 2, 2, 3, 3, 3, 3}},
		{"two cores of a package", twoPackages(), []int{0, 1}, Place{0, 0, 0, None, None, None, None}},
		{"both packages", twoPackages(), []int{0, 2}, Place{None, None, None, None, None, None, None}},
		{"all of the machine", twoPackages(), []int{0, 1, 2, 3, 4, 5, 6, 7}, Place{None, None, None, None, None, None, None}},
		{"what is offline", twoPackages(), []int{7}, Place{None, None, None, None, None, None, None}},
		{"no processor", twoPackages(), nil, Place{None, None, None, None, None, None, None}},
		{"a machine without an L3 cache", small, []int{1}, Place{0, 0, None, 0, 1, 1, 1}},
		{"all of a machine of one package", small, []int{0, 1}, Place{0, 0, None, 0, None, None, None}},
		{"an older kernel", old, []int{0}, Place{0, 0, None, None, None, 0, 0}},
		{"no sysfs", tree(), []int{3}, Place{None, None, None, None, None, None, 3}},
		{"lists that are none", broken, []int{0}, Place{None, None, None, None, None, None, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Find(c.root, c.cpus); got != c.want {
				t.Errorf("the place on %v is %v, want %v", c.cpus, got, c.want)
			}
		})
	}
}
