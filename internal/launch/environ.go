package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-mpi/weft/mpi/cause"
)

// Environment variables between Launch and Discover, and for the user.
const (
	envFD   = "WEFT_FD"   // number of the inherited socket
	envRank = "WEFT_RANK" // this rank
	envSize = "WEFT_SIZE" // ranks in the job
	envBoot = "WEFT_BOOT" // "none": be a world of one, whatever the other variables say

	envRoot   = "WEFT_ROOT"        // where rank 0 listens, for launchers that only set variables
	envSecret = "WEFT_SECRET_FILE" // what its ranks know one another by
)

// pmiVars are removed from the environment before PMI-1 is joined: they
// describe this process, not the programs that it starts.
var pmiVars = []string{
	"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMI_SPAWNED",
	"MPI_LOCALNRANKS", "MPI_LOCALRANKID",
}

const rootRemedy = "set WEFT_ROOT=HOST:PORT, where rank 0 is to listen, and WEFT_SECRET_FILE for all ranks (docs/launch.md)"

const anyRemedy = "start the job with weft run -n N or mpiexec.hydra -n N (or set WEFT_BOOT=none if every process is to be a world of its own)"

// sign is a pair of variables that indicates a launcher. Either name may be
// empty.
type sign struct {
	size, rank string
	remedy     string
}

// signs are those of launchers that set their variables for ranks only: if one
// indicates several ranks, this process is one of them.
var signs = []sign{
	{"PMI_SIZE", "PMI_RANK", "the process manager has set no PMI_FD or PMI_PORT; " + anyRemedy},
	{"MPI_LOCALNRANKS", "MPI_LOCALRANKID", "Hydra has set no PMI_FD or PMI_PORT; " + anyRemedy},
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun offers PMIx only, which Weft does not speak: " + rootRemedy + ", or " + anyRemedy},
	{"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", rootRemedy + ", or " + anyRemedy},
	{"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", rootRemedy + ", or " + anyRemedy},
	{"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "start with flux run -o pmi=simple; or " + anyRemedy},
	{"", "PALS_RANKID", "set WEFT_RANK and WEFT_SIZE, and " + rootRemedy + ", or " + anyRemedy},
	{envSize, envRank, "WEFT_FD is missing, the launcher's socket, which was not passed on to this process, and so is WEFT_ROOT; " + rootRemedy + ", or " + anyRemedy},
}

// Slurm's variables are checked before pmixSign: srun --mpi=pmix sets both, and
// Slurm's tell the user more.
var (
	slurmRemedy = "start with srun --mpi=pmi2, or " + rootRemedy + ", or " + anyRemedy
	pmixSign    = sign{"", "PMIX_RANK", "PMIx is a protocol that Weft does not speak; " + anyRemedy}
)

// lookup is os.LookupEnv or a stand-in for it.
type lookup func(string) (string, bool)

// severalRanks returns an *EnvError about the first sign that this process is
// one of several ranks, or nil. Precondition: the environment offers no
// bootstrap, which would explain the sign.
func severalRanks(get lookup) error {
	for _, s := range signs {
		if err := s.check(get); err != nil {
			return err
		}
	}
	if err := slurmStep(get); err != nil {
		return err
	}
	return pmixSign.check(get)
}

// foreignRanks is severalRanks without the signs of our own launcher and of
// Slurm. Launch leaves Slurm's variables in place for the user's scripts.
func foreignRanks(get lookup) error {
	for _, s := range append(signs[:len(signs):len(signs)], pmixSign) {
		if s.size == envSize {
			continue
		}
		if err := s.check(get); err != nil {
			return err
		}
	}
	return nil
}

func (s sign) check(get lookup) error {
	if err := above(get, s.size, 1, s.remedy); err != nil {
		return err
	}
	// A rank above zero proves that there are others; rank zero proves nothing.
	return above(get, s.rank, 0, s.remedy)
}

// above returns an *EnvError if the variable holds a number above limit, or no
// number.
func above(get lookup, name string, limit int, remedy string) error {
	if name == "" {
		return nil
	}
	v, ok := get(name)
	if !ok || v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return &cause.EnvError{Var: name, Value: v, Err: fmt.Errorf("not a number: %w", ErrNoBootstrap), Remedy: remedy}
	}
	if n > limit {
		return &cause.EnvError{Var: name, Value: v, Err: ErrNoBootstrap, Remedy: remedy}
	}
	return nil
}

// slurmStep checks Slurm's variables. Batch scripts and interactive shells see
// SLURM_NTASKS too but are one process: only a job step, started by srun, has
// an id up to slurmMaxStep.
func slurmStep(get lookup) error {
	const slurmMaxStep = 0xfffffff0 // slurm.h: SLURM_MAX_NORMAL_STEP_ID; batch, extern and interactive steps lie above
	step, ok := get("SLURM_STEP_ID")
	if !ok {
		step, ok = get("SLURM_STEPID") // before Slurm 14
	}
	if !ok {
		return nil
	}
	if id, err := strconv.ParseUint(step, 10, 32); err == nil && id > slurmMaxStep {
		return nil
	}
	size := "SLURM_STEP_NUM_TASKS"
	if _, ok := get(size); !ok {
		size = "SLURM_NTASKS"
	}
	return sign{size, "SLURM_PROCID", slurmRemedy}.check(get)
}

// number reads a variable, which must hold a number not below least.
func number(get lookup, name string, least int) (int, error) {
	v, ok := get(name)
	if !ok {
		return 0, &cause.EnvError{Var: name, Err: fmt.Errorf("not set"), Remedy: anyRemedy}
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least {
		return 0, &cause.EnvError{Var: name, Value: v, Err: fmt.Errorf("not a number of at least %d", least), Remedy: anyRemedy}
	}
	return n, nil
}

// rankEnv returns env without the variables of launchers, which describe this
// launcher's process and not its ranks. Slurm's stay. Of several values of a
// name the last is kept, as in os/exec: some programs would read the first,
// others the last.
func rankEnv(env []string) []string {
	seen := map[string]bool{envFD: true, envRank: true, envSize: true, envBoot: true, envRoot: true, envSecret: true}
	for _, v := range pmiVars {
		seen[v] = true
	}
	for _, s := range append(slices.Clip(signs), pmixSign) {
		seen[s.size], seen[s.rank] = true, true
	}
	var out []string
	for _, kv := range slices.Backward(env) {
		if name, _, ok := strings.Cut(kv, "="); ok && !seen[name] {
			seen[name] = true
			out = append(out, kv)
		}
	}
	slices.Reverse(out)
	return out
}

// withoutRseq returns env with the tunable of Launch.NoRseq.
func withoutRseq(env []string) []string {
	const name, tunable = "GLIBC_TUNABLES", "glibc.pthread.rseq"
	for i, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			if v == "" {
				env[i] = kv + tunable + "=0"
			} else if !strings.Contains(v, tunable) {
				env[i] = kv + ":" + tunable + "=0"
			}
			return env
		}
	}
	return append(env, name+"="+tunable+"=0")
}

// ofHost are the variables that say something of a host, or of a session there: a rank
// on another host has those of its agent. A name that ends in _ stands for all that
// begin so.
var ofHost = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "HOST", "MAIL", "PWD", "OLDPWD", "SHLVL", "_",
	"SSH_", "XDG_", "DBUS_", "SLURM_", "SLURMD_", "PBS_",
}

// mergeEnv returns the environment of a rank on another host: what the agent has, and
// what the launcher has. The launcher's counts, but for what is of a host.
func mergeEnv(agent, launcher []string) []string {
	out := append([]string{}, agent...)
	for _, kv := range launcher {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(ofHost, func(of string) bool {
			return name == of || len(of) > 1 && strings.HasSuffix(of, "_") && strings.HasPrefix(name, of)
		}) {
			out = append(out, kv)
		}
	}
	return out
}
