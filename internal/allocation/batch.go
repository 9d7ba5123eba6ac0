package allocation

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-mpi/weft/internal/launch"
)

// Batch is what a batch system has given to the job that this process is in.
type Batch struct {
	System string // "Slurm", "PBS", "Grid Engine" or "LSF"
	Hosts  []launch.Host
}

// Detect finds the job of a batch system that this process is the script of, or a shell
// in, by the variables that get returns; nil without one. A process that such a system
// has started as one of several, or as a step, is in none: its launcher has placed it. An
// error says that there is a job whose hosts can't be told.
func Detect(get func(string) string) (*Batch, error) {
	b := &Batch{}
	var err error
	switch {
	case get("SLURM_JOB_ID") != "" && get("SLURM_JOB_NODELIST") != "" && !slurmStep(get):
		b.System = "Slurm"
		b.Hosts, err = slurm(get)
	case get("PBS_NODEFILE") != "":
		b.System = "PBS"
		b.Hosts, err = file(get("PBS_NODEFILE"), func(f []string) (string, string) { return f[0], "1" })
	case get("PE_HOSTFILE") != "":
		b.System = "Grid Engine"
		b.Hosts, err = file(get("PE_HOSTFILE"), func(f []string) (string, string) { return f[0], append(f, "1")[1] })
	case get("LSB_MCPU_HOSTS") != "":
		b.System = "LSF"
		words := strings.Fields(get("LSB_MCPU_HOSTS"))
		for i := 0; i+1 < len(words) && err == nil; i += 2 {
			err = b.add(words[i], words[i+1])
		}
	default:
		return nil, nil
	}
	if err == nil && len(b.Hosts) == 0 {
		err = fmt.Errorf("it names no hosts")
	}
	if err != nil {
		return nil, fmt.Errorf("the hosts of the job of %s: %w", b.System, err)
	}
	return b, nil
}

// slurmStep reports whether the process is of a step that srun has started, and not of
// the job's script or of an interactive shell, whose steps have numbers above those.
func slurmStep(get func(string) string) bool {
	const most = 0xfffffff0 // slurm.h: SLURM_MAX_NORMAL_STEP_ID
	step := get("SLURM_STEP_ID")
	id, err := strconv.ParseUint(step, 10, 32)
	return step != "" && (err != nil || id <= most)
}

// slurm has the nodes from scontrol, in whose lists are ranges, and their tasks, or else
// processors, from the job.
func slurm(get func(string) string) (hosts []launch.Host, err error) {
	out, err := exec.Command("scontrol", "show", "hostnames", get("SLURM_JOB_NODELIST")).Output()
	if err != nil {
		return nil, fmt.Errorf("scontrol show hostnames: %w", err)
	}
	names := strings.Fields(string(out))
	counts := cmp.Or(get("SLURM_TASKS_PER_NODE"), get("SLURM_JOB_CPUS_PER_NODE"))
	slots, err := repeated(counts)
	if err == nil && len(slots) != len(names) {
		err = fmt.Errorf("%d nodes, and tasks for %d: %q", len(names), len(slots), counts)
	}
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		hosts = append(hosts, launch.Host{Name: name, Slots: slots[i]})
	}
	return hosts, nil
}

// repeated reads Slurm's notation of numbers: "2(x3),1" is 2, 2, 2, 1.
func repeated(list string) (all []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		text, times, many := strings.Cut(strings.TrimSuffix(word, ")"), "(x")
		n, err := number(text)
		k := 1
		if err == nil && many {
			k, err = number(times)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", list, err)
		}
		all = append(all, slices.Repeat([]int{n}, k)...)
	}
	return all, nil
}

// file reads a file of hosts, one on each line, and adds the slots of those that come
// several times.
func file(name string, read func(fields []string) (host, slots string)) ([]launch.Host, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b := &Batch{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			if err := b.add(read(fields)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return b.Hosts, nil
}

// add gives a host slots.
func (b *Batch) add(name, slots string) error {
	n, err := number(slots)
	if err == nil {
		err = checkName(name)
	}
	if err != nil {
		return err
	}
	for i := range b.Hosts {
		if b.Hosts[i].Name == name {
			b.Hosts[i].Slots += n
			return nil
		}
	}
	b.Hosts = append(b.Hosts, launch.Host{Name: name, Slots: n})
	return nil
}
