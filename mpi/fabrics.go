package mpi

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/verbs"
)

// reach is which ranks a transport joins, the least first.
type reach uint8

const (
	process reach = iota // goroutines of one
	machine
	network
)

// transport is one of the ways between ranks.
type transport struct {
	name  string
	reach reach
	// open returns what opens the domains of ranks in this process.
	open func(ranks int) fabric.Provider
}

// transports are all there are, the nearer first.
var transports = []transport{
	{"mem", process, func(ranks int) fabric.Provider { return mem.NewNetwork(ranks).Provider() }},
	{"shm", machine, func(int) fabric.Provider { return shm.Provider{} }},
	{"verbs", network, func(int) fabric.Provider { return verbs.Provider{Arena: arena{}} }},
}

// A fabric is transports joined by "+", the nearer first: each rank is reached
// over the first of them that reaches it. auto is mem for a rank alone, shm on one
// machine, and spreadFabric on several.
const (
	auto         = "auto"
	spreadFabric = "shm+verbs"
)

// Fabrics lists the names that WithFabric takes.
func Fabrics() []string {
	names := []string{auto}
	for _, t := range transports {
		names = append(names, t.name)
	}
	return append(names, joined("", machine)...)
}

// joined lists the fabrics of two transports and more that begin as prefix says
// and go on with transports from a reach on.
func joined(prefix string, from reach) (names []string) {
	for _, t := range transports {
		if t.reach < from {
			continue
		}
		name := t.name
		if prefix != "" {
			name = prefix + "+" + name
			names = append(names, name)
		}
		names = append(names, joined(name, t.reach+1)...)
	}
	return names
}

// parse takes a fabric's name apart.
func parse(call, name string) (ts []transport, err error) {
	if !slices.Contains(Fabrics(), name) {
		return nil, badArg(call, ErrArg, "unknown fabric %q: use one of %s", name, strings.Join(Fabrics(), ", "))
	}
	for part := range strings.SplitSeq(name, "+") {
		for _, t := range transports {
			if t.name == part {
				ts = append(ts, t)
			}
		}
	}
	return ts, nil
}

// choose finds the transports for a job of processes.
func choose(name string, job *boot.Job) (string, []transport, error) {
	if env := os.Getenv("WEFT_FABRIC"); name == auto && env != "" {
		if _, err := parse("Init", env); err != nil {
			return "", nil, badArg("Init", ErrArg, "WEFT_FABRIC: %w", errors.Unwrap(err))
		}
		name = env
	}
	needs := network
	switch {
	case job.Size == 1:
		needs = process
	case len(job.LocalRanks) == job.Size:
		needs = machine
	}
	if name == auto {
		name = [...]string{process: "mem", machine: "shm", network: spreadFabric}[needs]
	}
	ts, err := parse("Init", name)
	if err != nil {
		return "", nil, err
	}
	switch farthest := ts[len(ts)-1].reach; {
	case farthest >= needs:
		return name, ts, nil
	case farthest == process:
		return "", nil, badArg("Init", ErrUnsupported,
			"fabric %s joins the goroutines of one process, not %d processes: use shm, or mpi.Run", name, job.Size)
	}
	return "", nil, badArg("Init", ErrUnsupported,
		"%d of %d ranks are on other machines, which %s does not reach: choose the fabric %s if they have RDMA devices, or start all ranks on one machine",
		job.Size-len(job.LocalRanks), job.Size, name, spreadFabric)
}

// forRun finds the transport for the ranks of Run, which are goroutines.
func forRun(name string) (transport, error) {
	ts, err := parse("Run", name)
	switch {
	case err != nil:
		return transport{}, err
	case len(ts) == 0:
		return transports[0], nil
	case len(ts) > 1:
		return transport{}, badArg("Run", ErrUnsupported, "fabric %s is for processes: goroutines are all on one machine", name)
	}
	return ts[0], nil
}

// reaches reports whether the transport joins this rank with rank i, whose node
// has a name.
func (t transport) reaches(job *boot.Job, i int, mine, its string) bool {
	switch t.reach {
	case process:
		return i == job.Rank
	case machine:
		return slices.Contains(job.LocalRanks, i) && mine == its
	}
	return true
}

// available says why a transport can't be used here, if it can't.
func available(call string, p fabric.Provider) error {
	if err := p.Available(); err != nil {
		return badArg(call, ErrUnsupported, "fabric %s is not available: %w", p.Name(), err)
	}
	return nil
}

// open opens a domain of each transport, or none.
func open(ts []transport, cfg fabric.Config) ([]fabric.Domain, error) {
	var doms []fabric.Domain
	for _, t := range ts {
		p := t.open(1)
		d, err := fabric.Open(p, cfg)
		if err != nil {
			if why := available("Init", p); why != nil {
				err = why
			}
			return nil, errors.Join(err, closeAll(doms))
		}
		doms = append(doms, d)
	}
	return doms, nil
}

func closeAll(doms []fabric.Domain) (err error) {
	for _, d := range doms {
		err = errors.Join(err, d.Close())
	}
	return err
}
