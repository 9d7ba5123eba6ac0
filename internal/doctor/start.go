package doctor

import (
	"slices"
	"strings"
)

// configuration tells whether the variables of Weft can be used.
func (m *Machine) configuration() Finding {
	if err := m.Settings(); err != nil {
		return bad(err.Error(), "correct or unset the variable: programs refuse to start with it (weft info -c)")
	}
	var set []string
	for _, kv := range m.Env {
		if strings.HasPrefix(kv, "WEFT_") && !strings.HasSuffix(kv, "=") {
			set = append(set, kv)
		}
	}
	if len(set) == 0 {
		return ok("no variable of Weft is set")
	}
	return ok(strings.Join(set, " "))
}

// launchers are the beginnings of the names of launchers' variables. Open MPI's
// settings (OMPI_MCA_) are no sign of it.
var launchers = []struct{ prefix, name string }{
	{"WEFT_FD", "weft run"},
	{"PMI_", "PMI-1"},
	{"PMIX_", "PMIx"},
	{"OMPI_COMM_", "Open MPI"},
	{"SLURM_STEP", "a Slurm step"},
	{"SLURM_JOB", "a Slurm allocation"},
	{"FLUX_", "Flux"},
	{"PALS_", "PALS"},
	{"PBS_", "PBS"},
	{"MPI_LOCALNRANKS", "Hydra"},
}

// launcher looks for variables of launchers: whether a rank started like this process
// finds its job.
func (m *Machine) launcher() Finding {
	var found, names []string
	for _, l := range launchers {
		i := slices.IndexFunc(m.Env, func(kv string) bool { return strings.HasPrefix(kv, l.prefix) })
		if i >= 0 {
			found = append(found, l.name)
			name, _, _ := strings.Cut(m.Env[i], "=")
			names = append(names, name)
		}
	}
	seen := "none: a program is a world of one, or goroutines; start ranks with weft run or mpiexec"
	if len(found) > 0 {
		seen = strings.Join(found, ", ") + " (" + strings.Join(names, ", ") + ")"
	}
	launched, err := m.Launched()
	switch {
	case err != nil:
		return bad(err.Error(), "start ranks with weft run, mpiexec of MPICH, or srun --mpi=pmi2")
	case launched:
		return ok(seen + ": this process is a rank")
	case slices.Contains(found, "a Slurm allocation"):
		return ok(seen + ": start ranks with srun --mpi=pmi2")
	}
	return ok(seen)
}

// quick are the clocks that a process reads without a system call.
var quick = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "riscv_clocksource", "timebase", "stp", "tod"}

// clock looks at the kernel's clock: reading it is on the way of everything that has a
// time limit, and benchmarks measure with it.
func (m *Machine) clock() Finding {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	now := m.word(dir + "current_clocksource")
	available := m.word(dir + "available_clocksource")
	switch {
	case now == "":
		return ok("the clock source is not shown")
	case slices.Contains(quick, now):
		return ok("the clock source is " + now)
	}
	seen := "the clock source is " + now + ", which takes a system call to read"
	for _, name := range quick {
		if slices.Contains(strings.Fields(available), name) {
			return warn(seen, "echo "+name+" > /"+dir+"current_clocksource, unless the kernel has found it unstable (dmesg)")
		}
	}
	return warn(seen, "boot with clocksource=tsc if the processor has a constant one; the kernel's log says why it does not use it (dmesg)")
}
