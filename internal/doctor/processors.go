package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// processors compares the processors that this process may run on with the ranks.
func (m *Machine) processors() Finding {
	cores, err := m.Cores()
	if err != nil {
		return warn("the processors of this process are not known: "+err.Error(), "allow sched_getaffinity")
	}
	seen := fmt.Sprintf("%s for %s: %s", number(len(cores), "processor"), number(m.Ranks, "rank"), ranges(cores))
	if online := list(m.word("sys/devices/system/cpu/online")); len(online) > len(cores) {
		seen += fmt.Sprintf(", of %d of the machine", len(online))
	}
	if m.Ranks > len(cores) {
		return warn(seen+"; ranks share processors", "start fewer ranks, or give the launcher more processors (taskset, cpuset, --cpus-per-task of Slurm); where they must share, weft run --timer-slack 4ms --no-rseq saves some of the kernel's work")
	}
	return ok(seen)
}

// quota compares the processor time that the control group may use with the ranks.
func (m *Machine) quota() Finding {
	q := m.cpuQuota()
	if q == 0 {
		return ok("no limit by a control group")
	}
	seen := fmt.Sprintf("a control group permits %s processors on average", strconv.FormatFloat(q, 'g', 3, 64))
	if q < float64(m.Ranks) {
		return warn(seen+fmt.Sprintf(" for %s: the kernel stops all of them for the rest of each period", number(m.Ranks, "rank")),
			"raise the limit (cpu.max; --cpus of a container; limits.cpu of a pod) or start fewer ranks")
	}
	return ok(seen)
}

// gomaxprocs looks for a setting that leaves no processor of the runtime's for the
// progress thread.
func (m *Machine) gomaxprocs() Finding {
	v := m.variable("GOMAXPROCS")
	if v == "" {
		return ok("not set: a rank that computes gets two more for its progress thread")
	}
	n, err := strconv.Atoi(v)
	if err == nil && n > 2 {
		return ok("GOMAXPROCS=" + v)
	}
	return warn("GOMAXPROCS="+v+": a rank that computes may reply to its peers after ten milliseconds", "unset it, or set it to the number of goroutines that compute plus two")
}

// number is a number of things in words.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// ranges writes ascending numbers as the kernel does: 0-3,8.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		part := strconv.Itoa(numbers[i])
		if k > i {
			part += "-" + strconv.Itoa(numbers[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// list reads what ranges writes. What is no such list is empty.
func list(text string) (numbers []int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(last)
		}
		if err != nil || b < a || b-a > 1<<16 {
			return nil
		}
		for n := a; n <= b; n++ {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}
