package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/allocation"
	"github.com/weft-mpi/weft/internal/launch"
)

// places says where a job runs, as the flags of weft run do.
type places struct {
	hosts, hostfile string
	launcher        string
	ssh, agent, dir string
	silence         time.Duration
}

func (p *places) flags(flags *pflag.FlagSet) {
	flags.StringVar(&p.hosts, "hosts", "", "start the ranks on `HOSTS`, with their slots: a:2,b:2")
	flags.StringVar(&p.hostfile, "hostfile", "", "start the ranks on the hosts in `FILE`, one on each line: a slots=2, or a:2")
	flags.StringVar(&p.launcher, "launcher", "auto", "`HOW` agents are started on hosts: ssh, srun, mpiexec, or none, for ranks here; auto: as the batch system does inside a job of it, else ssh")
	flags.StringVar(&p.ssh, "ssh", "ssh", "the `COMMAND` that logs in to a host, with its options")
	flags.StringVar(&p.agent, "agent", "", "the `PATH` of weft on the hosts; as here, unless set")
	flags.StringVar(&p.dir, "wdir", "", "the ranks' folder on the hosts is `DIR`; as here, unless set")
	flags.DurationVar(&p.silence, "deadline", launch.DefaultSilence, "a host that has been silent for so long is lost; 0 for never")
}

// place fills in the hosts of a Launch, if it has some, and without -n its ranks.
func (p *places) place(l *launch.Launch, counted bool) (err error) {
	if err := p.check(); err != nil {
		return err
	}
	how := p.launcher
	switch {
	case p.hosts != "":
		if l.Hosts, err = allocation.Parse(p.hosts); err != nil {
			return fmt.Errorf("--hosts %s: %w", p.hosts, err)
		}
	case p.hostfile != "":
		if l.Hosts, err = readHostfile(p.hostfile); err != nil {
			return err
		}
	}
	var batch *allocation.Batch
	if how != "none" {
		if batch, err = allocation.Detect(os.Getenv); err != nil {
			return fmt.Errorf("%w; --launcher none starts the ranks here", err)
		}
	}
	if l.Hosts == nil && batch != nil && (len(batch.Hosts) > 1 || how != "auto") {
		l.Hosts = batch.Hosts // one host of a job is where its script runs
	}
	if l.Hosts == nil {
		if how != "auto" && how != "none" {
			return fmt.Errorf("--launcher %s: no hosts are named, and this is no job of a batch system", how)
		}
		return nil
	}
	if how == "auto" {
		how = usual(batch)
	}
	if !counted {
		l.N = allocation.Slots(l.Hosts)
	}
	if l.Silence = p.silence; p.silence == 0 {
		l.Silence = -1
	}
	l.Dir = p.dir
	l.Starter, err = p.starter(how)
	return err
}

// check refuses flags that contradict one another.
func (p *places) check() error {
	switch {
	case p.hosts != "" && p.hostfile != "":
		return errors.New("both --hosts and --hostfile: name the hosts once")
	case p.launcher == "none" && p.hosts+p.hostfile != "":
		return errors.New("--launcher none starts the ranks here, and hosts are named")
	case p.silence < 0:
		return fmt.Errorf("--deadline %v: a time, or 0 for never", p.silence)
	case len(strings.Fields(p.ssh)) == 0:
		return errors.New("--ssh names no command")
	case !slices.Contains([]string{"auto", "ssh", "srun", "mpiexec", "none"}, p.launcher):
		return fmt.Errorf("unknown --launcher %q: use auto, ssh, srun, mpiexec or none", p.launcher)
	}
	return nil
}

// usual is how agents are started where the user does not say it.
func usual(batch *allocation.Batch) string {
	switch {
	case batch == nil:
		return "ssh"
	case batch.System == "Slurm":
		return "srun"
	}
	if _, err := exec.LookPath(mpiexec); err == nil {
		return "mpiexec"
	}
	return "ssh"
}

// mpiexec is that of MPICH, whatever else has the shorter name.
const mpiexec = "mpiexec.hydra"

// starter is how agents are started.
func (p *places) starter(how string) (s launch.Starter, err error) {
	own, err := os.Executable()
	if err != nil {
		return s, fmt.Errorf("find the path of weft, which the hosts need: %w", err)
	}
	agent := p.agent
	agent = cmp.Or(agent, own)
	switch how {
	case "srun":
		return launch.Srun(agent, agentName), nil
	case "mpiexec":
		return launch.Mpiexec([]string{mpiexec}, agent, agentName), nil
	}
	s = launch.SSH(strings.Fields(p.ssh), agent, agentName)
	remote := s.Command
	s.Command = func(host string) []string {
		if allocation.Here(host) {
			return []string{own, agentName}
		}
		return remote(host)
	}
	return s, nil
}

func readHostfile(name string) ([]launch.Host, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--hostfile: %w", err)
	}
	defer f.Close()
	return allocation.ReadFile(f, name)
}
