package mpi_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/weft-mpi/weft/mpi"
)

// machine is the sysfs of one with two packages of two L3 caches of two cores each: the
// processors 0 to 7. Every package is a NUMA node.
func machine() fstest.MapFS {
	m := fstest.MapFS{}
	put := func(name string, args ...any) {
		m[name] = &fstest.MapFile{Data: fmt.Appendln(nil, args...)}
	}
	put("cpu/online", "0-7")
	for cpu := range 8 {
		dir := fmt.Sprintf("cpu/cpu%d/", cpu)
		pkg, l3 := cpu&^3, cpu&^1
		put(dir+"topology/package_cpus_list", fmt.Sprintf("%d-%d", pkg, pkg+3))
		put(dir+"topology/core_cpus_list", cpu)
		put(dir+"cache/index3/level", 3)
		put(dir+"cache/index3/type", "Unified")
		put(dir+"cache/index3/shared_cpu_list", fmt.Sprintf("%d-%d", l3, l3+1))
		put(fmt.Sprintf("node/node%d/cpulist", cpu/4), fmt.Sprintf("%d-%d", pkg, pkg+3))
	}
	return m
}

// machines are the machines of four ranks, the first of which has rank 0: ranks that
// share memory.
func machines(fabric string) [][]int {
	switch fabric {
	case "mem", "shm":
		return [][]int{{0, 1, 2, 3}}
	case "shm+tcp", "shm+verbs", "shm+verbs+tcp":
		return [][]int{{0, 1}, {2, 3}}
	}
	return [][]int{{0}, {1}, {2}, {3}}
}

// sharers are the ranks of a machine that have the number of rank me, or nothing if
// that is negative.
func sharers(fabric string, me int, number [4]int) (ranks []int) {
	for _, of := range machines(fabric) {
		for _, r := range of {
			if number[me] >= 0 && number[r] == number[me] && of[0] <= me && me <= of[len(of)-1] {
				ranks = append(ranks, r)
			}
		}
	}
	return ranks
}

func resource(name string) *mpi.Info { return hint("mpi_hw_resource_type", name) }

// typeOf is the type of resource that a communicator says it was made by.
func typeOf(c *mpi.Comm) string {
	name, _ := get(c.Info()).Get("mpi_hw_resource_type")
	return name
}

// Ranks on one resource are together, those on several are in no communicator, and
// equal numbers on two machines do not meet.
func TestSplitTypeByHardware(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for name, on := range ordered(map[string]struct {
			cpus [4][]int
			want map[string][4]int
		}{
			"one processor each": {[4][]int{{0}, {1}, {3}, {4}}, map[string][4]int{
				"Package": {0, 0, 0, 1}, "NUMANode": {0, 0, 0, 1}, "L3Cache": {0, 0, 1, 2}, "Core": {0, 1, 2, 3}, "PU": {0, 1, 2, 3},
				"L2Cache": {-1, -1, -1, -1}, "Torus": {-1, -1, -1, -1}, "": {-1, -1, -1, -1}, "mpi_shared_memory": {0, 0, 0, 0},
			}},
			"some of both packages": {[4][]int{{6, 7}, {0, 4}, {6}, {0, 1, 2, 3, 4, 5, 6, 7}}, map[string][4]int{
				"Package": {0, -1, 0, -1}, "L3Cache": {0, -1, 0, -1}, "Core": {-1, -1, 0, -1}, "mpi_shared_memory": {0, 0, 0, 0},
			}},
		}) {
			t.Run(name, func(t *testing.T) {
				act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
					me := c.Rank()
					mpi.Place(w, machine(), on.cpus[me]...)
					for kind, numbers := range ordered(on.want) {
						d := get(c.SplitTypeWithInfo(mpi.TypeHWGuided, 0, resource(kind)))
						hasRanks(t, w, d, sharers(fabric, me, numbers))
						if d != nil && typeOf(d) != kind {
							t.Errorf("the communicator of %s is of type %q", kind, typeOf(d))
						}
					}
				})
			})
		}
	})
}

// Each unguided split goes one step into the hardware, as far as it sets ranks apart.
func TestAnUnguidedSplitFindsTheNextLevel(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			mpi.Place(w, machine(), me*2-me/3*2) // 0, 2, 4, 4: the last two share a core
			steps := []struct {
				name  string
				ranks []int
			}{}
			add := func(name string, ranks ...int) {
				steps = append(steps, struct {
					name  string
					ranks []int
				}{name, ranks})
			}
			switch mine := machines(fabric); len(mine) {
			case 1:
				if me < 2 {
					add("Package", 0, 1)
					add("L3Cache", me)
				} else {
					add("Package", 2, 3)
				}
			case 2:
				add("mpi_shared_memory", me&^1, me&^1+1)
				if me < 2 {
					add("L3Cache", me)
				}
			default:
				add("mpi_shared_memory", me)
			}
			d := c
			for _, s := range steps {
				d = get(d.SplitType(mpi.TypeHWUnguided, 0))
				hasRanks(t, w, d, s.ranks)
				if d == nil || typeOf(d) != s.name {
					t.Errorf("rank %d: the communicator is of another type than %s", me, s.name)
					return
				}
			}
			if d := get(d.SplitType(mpi.TypeHWUnguided, 0)); d != nil {
				t.Errorf("rank %d: a further split is by %s", me, typeOf(d))
			}
		})
	})
}

// A rank on no resource of its own is in no communicator, and is a part as well.
func TestAnUnguidedSplitLeavesOutWhoIsNotBound(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			on := [4][]int{{0}, {1, 2}, {2, 5}, {3}}
			mpi.Place(w, machine(), on[c.Rank()]...)
			d := get(c.SplitType(mpi.TypeHWUnguided, -c.Rank()))
			if len(machines(fabric)) == 1 {
				hasRanks(t, w, d, []int{3, 1, 0})
			} else if typeOf(d) != "mpi_shared_memory" {
				t.Errorf("the communicator is of type %q", typeOf(d))
			}
		})
	})
}

// What does not go together is an error at all ranks, and the parent remains usable.
func TestRanksThatSplitByDifferentThings(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			odd := c.Rank() == 1
			kind, name := mpi.TypeShared, "Package"
			if odd {
				kind, name = mpi.TypeHWUnguided, "Core"
			}
			_, err := c.SplitType(kind, 0)
			wantWords(t, "kinds", err, mpi.ErrNotSame, "rank 0 asks for TypeShared and rank 1 for TypeHWUnguided")
			_, err = c.SplitTypeWithInfo(mpi.TypeHWGuided, 0, resource(name))
			wantWords(t, "types", err, mpi.ErrNotSame, "rank 0 asks for TypeHWGuided by Package and rank 1 for TypeHWGuided by Core")
			// Undefined goes with everything.
			if odd {
				kind, name = mpi.Undefined, "Core"
			}
			if d := get(c.SplitTypeWithInfo(kind, 0, resource(name))); (d == nil) != odd || d != nil && typeOf(d) != "" {
				t.Errorf("rank %d of kind %d gets %v", c.Rank(), kind, d)
			}
			// An info without the key, at one rank, and a hint that is none.
			var info *mpi.Info
			if !odd {
				info = resource("Package")
			}
			_, err = c.SplitTypeWithInfo(mpi.TypeHWGuided, 0, info)
			want(t, "no key", err, mpi.ErrInfoNokey)
			if odd {
				wantWords(t, "no key", err, mpi.ErrInfoNokey, "mpi_hw_resource_type", "SplitTypeWithInfo")
			}
			_, err = c.SplitType(mpi.TypeHWGuided, 0)
			wantWords(t, "no info", err, mpi.ErrInfoNokey, "mpi_hw_resource_type")
			_, err = c.SplitTypeWithInfo(mpi.TypeShared, 0, hint("mpi_assert_no_any_tag", "no"))
			want(t, "a bad hint", err, mpi.ErrInfoValue)
			d := get(c.SplitTypeWithInfo(mpi.TypeShared, 0, hint("mpi_assert_no_any_tag", "true")))
			if v, _ := get(d.Info()).Get("mpi_assert_no_any_tag"); v != "true" {
				t.Errorf("the hint is %q", v)
			}
			ok(c.Barrier())
		})
	})
}

// The machine of the test has processors, and ranks that are goroutines all use the
// same.
func TestGoroutinesShareTheirProcesssHardware(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		for _, kind := range []string{"Package", "NUMANode", "Core"} {
			d := get(c.SplitTypeWithInfo(mpi.TypeHWGuided, 0, resource(kind)))
			if d != nil && d.Size() != 3 || kind == "Core" && d != nil && runtime.NumCPU() > 2 {
				stop(errors.New("ranks of one process are apart by " + kind))
			}
		}
		if d := get(c.SplitType(mpi.TypeHWUnguided, 0)); d != nil {
			t.Errorf("they are split by %s", typeOf(d))
		}
	})
}
