package launch

import (
	"fmt"
	"path"
	"strings"
)

// Starter says how a Launch starts the agent of a host.
type Starter struct {
	// Command returns a command and its arguments. Its standard streams are to be those
	// of Agent, in a process on the host.
	Command func(host string) []string
	// Remedy, unless nil, says what the user can do if the command ends with a status
	// before there is an agent. said is the end of its standard error.
	Remedy func(status int, said string) string
}

// SSH starts agents by ssh, or by a command of the same arguments, which begins with
// the words of ssh. agent is the command of the agent on each host, as words. The user's
// key or agent has to log in there without a question.
func SSH(ssh []string, agent ...string) Starter {
	return Starter{
		Command: func(host string) []string {
			argv := append([]string{}, ssh...)
			argv = append(argv, "-T", "-x", "-oBatchMode=yes", "-oConnectTimeout=20", "--", host, "exec")
			for _, word := range agent {
				argv = append(argv, shellQuote(word))
			}
			return argv
		},
		Remedy: func(status int, said string) string {
			if status == 255 {
				return "try: " + strings.Join(ssh, " ") + " -oBatchMode=yes HOST true"
			}
			return noAgent(status, said, agent[0])
		},
	}
}

// Srun starts agents as steps of the Slurm job that this process is in. Each has all
// that the job has on its node.
func Srun(agent ...string) Starter {
	return Starter{
		Command: func(host string) []string {
			return append([]string{"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + host, "--overlap", "--mem=0",
				"--cpu-bind=none", "--mpi=none", "--quiet", "--"}, agent...)
		},
		Remedy: func(status int, said string) string { return noAgent(status, said, agent[0]) },
	}
}

// Mpiexec starts agents by mpiexec of MPICH (Hydra), or by a command of the same
// arguments.
func Mpiexec(mpiexec []string, agent ...string) Starter {
	return Starter{
		Command: func(host string) []string {
			argv := append([]string{}, mpiexec...)
			return append(append(argv, "-hosts", host, "-n", "1"), agent...)
		},
		Remedy: func(status int, said string) string { return noAgent(status, said, agent[0]) },
	}
}

// noAgent is the remedy where the agent's program may be missing.
func noAgent(status int, said, agent string) string {
	missing := status == 126 || status == 127 // sh(1): it can't be executed, it is not found
	if !missing && !(strings.Contains(said, path.Base(agent)) && strings.Contains(said, "No such file")) {
		return ""
	}
	return fmt.Sprintf("the host needs weft at the path %s: copy it there, or name the place it has there (--agent PATH)", agent)
}

// shellQuote makes a word of any text for sh(1) and csh(1).
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
