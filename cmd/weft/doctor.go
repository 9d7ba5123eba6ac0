package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/doctor"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

const doctorUsage = `weft doctor checks whether this machine is fit for the ranks of a job, and says what
to do where it is not. Run it where the ranks run, started as they are: limits and
control groups differ.

usage: weft doctor [FLAGS]

`

const doctorNotes = `
A warning is about a job that runs, more slowly or not everywhere, a problem about
something that does not work. The exit code is 1 if there is a problem. docs/doctor.md
explains the checks.
`

// childFlag makes weft the child of the check of reads between processes.
const childFlag = "child"

func runDoctor(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("doctor", pflag.ContinueOnError)
	n := flags.IntP("n", "n", 0, "check for so many `RANKS` on this machine; 0: one for each processor")
	asJSON := flags.Bool("json", false, "print JSON")
	child := flags.String(childFlag, "", "")
	flags.MarkHidden(childFlag)
	if code, done := parse(flags, args, doctorUsage, doctorNotes, stdout, stderr); done {
		return code
	}
	if err := noArguments(flags); err != nil {
		return wrong(stderr, err)
	}
	if *n < 0 || *n > launch.MaxRanks {
		return wrong(stderr, fmt.Errorf("%d ranks: a job has 1 to %d", *n, launch.MaxRanks))
	}
	if *child != "" {
		if err := doctor.Child(*child, os.Stdin, stdout); err != nil {
			fmt.Fprintln(stderr, "weft doctor:", err)
			return exitFailed
		}
		return 0
	}
	found := doctor.Examine(patient(*n))
	var text strings.Builder
	if *asJSON {
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		e.Encode(struct {
			Worst  doctor.Level     `json:"worst"`
			Checks []doctor.Finding `json:"checks"`
		}{doctor.Worst(found), found}) // to a buffer; all fields can be encoded
	} else {
		diagnosis(&text, found)
	}
	code := say(stdout, stderr, text.String())
	if doctor.Worst(found) == doctor.Problem {
		code = exitFailed
	}
	return code
}

// patient is this machine.
func patient(ranks int) *doctor.Machine {
	m := doctor.Here(ranks)
	m.Cores = launch.AllowedCores
	if cores, err := m.Cores(); ranks == 0 && err == nil {
		m.Ranks = len(cores)
	}
	m.Shared = func() error { return mpi.FabricAvailable("shm") }
	m.Read = func() (doctor.Reads, error) { return doctor.ReadChild(context.Background(), again) }
	m.Interfaces = func() (all []doctor.Address, err error) {
		list, err := mpi.NetAddresses(false)
		for _, a := range list {
			all = append(all, doctor.Address{Interface: a.Interface.Name, Addr: a.Addr, MTU: a.Interface.MTU, Used: a.Used, Why: a.Why})
		}
		return all, err
	}
	m.Devices = rdmaDevices
	m.Launched = launch.Launched
	m.Settings = mpi.CheckEnvironment
	return m
}

// again is this program as the child of a check.
func again(ctx context.Context, arg string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "doctor", "--"+childFlag, arg)
	cmd.Stderr = os.Stderr
	return cmd
}

// rdmaDevices are the RDMA devices and their ports in words.
func rdmaDevices() (all []doctor.Device, err error) {
	list, err := mpi.Devices()
	for _, d := range list {
		one := doctor.Device{Name: d.Name, Problem: d.Problem}
		var broken error
		for _, p := range d.Ports {
			if p.Problem != nil {
				broken = errors.Join(broken, p.Problem)
				continue
			}
			one.Ports = append(one.Ports, strings.TrimSpace(fmt.Sprintf("port %d %s %s", p.Number, p.LinkLayer, p.Rate)))
		}
		if one.Problem == nil && len(one.Ports) == 0 {
			one.Problem = broken
		}
		all = append(all, one)
	}
	return all, err
}

// diagnosis prints the findings.
func diagnosis(w io.Writer, found []doctor.Finding) {
	wide, counts := 0, map[doctor.Level]int{}
	for _, f := range found {
		wide = max(wide, len(f.Check))
		counts[f.Level]++
	}
	margin := strings.Repeat(" ", len(doctor.Warning)+2+wide+2)
	for _, f := range found {
		fmt.Fprintf(w, "%-*s  %-*s  %s\n", len(doctor.Warning), f.Level, wide, f.Check, strings.ReplaceAll(f.Seen, "\n", "\n"+margin))
		if f.Remedy != "" {
			fmt.Fprintf(w, "%sremedy: %s\n", margin, strings.ReplaceAll(f.Remedy, "\n", "\n"+margin))
		}
	}
	fmt.Fprintf(w, "\nok: %d, warnings: %d, problems: %d\n", counts[doctor.OK], counts[doctor.Warning], counts[doctor.Problem])
}
