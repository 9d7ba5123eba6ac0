package mpi

import (
	"errors"
	"os"
	"strings"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/verbs"
)

// both is shared memory inside a machine and verbs between machines.
const both = "shm+verbs"

// Fabrics lists the names that WithFabric takes.
func Fabrics() []string { return []string{"auto", "shm", "mem", "verbs", both} }

// choose finds the transports for a job of processes: the first for ranks of the
// same machine, or for all.
func choose(name string, job *boot.Job) (string, []fabric.Provider, error) {
	if env := os.Getenv("WEFT_FABRIC"); name == "auto" && env != "" {
		if err := checkFabric("Init", env); err != nil {
			return "", nil, badArg("Init", ErrArg, "WEFT_FABRIC: %w", errors.Unwrap(err))
		}
		name = env
	}
	alone, spread := job.Size == 1, len(job.LocalRanks) < job.Size
	if name == "auto" {
		switch {
		case alone:
			name = "mem"
		case spread:
			name = both
		default:
			name = "shm"
		}
	}
	switch name {
	case "mem":
		if !alone {
			return "", nil, badArg("Init", ErrUnsupported,
				"fabric mem joins the goroutines of one process, not %d processes: use shm, or mpi.Run", job.Size)
		}
		return name, []fabric.Provider{mem.NewNetwork(1).Provider()}, nil
	case "verbs":
		return name, []fabric.Provider{verbs.Provider{Arena: arena{}}}, nil
	case both:
		return name, []fabric.Provider{shm.Provider{}, verbs.Provider{Arena: arena{}}}, nil
	}
	if spread {
		return "", nil, badArg("Init", ErrUnsupported,
			"%d of %d ranks are on other machines, which shared memory does not reach: choose the fabric %s if they have RDMA devices, or start all ranks on one machine",
			job.Size-len(job.LocalRanks), job.Size, both)
	}
	return name, []fabric.Provider{shm.Provider{}}, nil
}

func checkFabric(call, name string) error {
	for _, f := range Fabrics() {
		if f == name {
			return nil
		}
	}
	return badArg(call, ErrArg, "unknown fabric %q: use one of %s", name, strings.Join(Fabrics(), ", "))
}

// available says why a transport can't be used here, if it can't.
func available(call string, p fabric.Provider) error {
	if err := p.Available(); err != nil {
		return badArg(call, ErrUnsupported, "fabric %s is not available: %w", p.Name(), err)
	}
	return nil
}

// open opens a domain of each provider, or none.
func open(providers []fabric.Provider, cfg fabric.Config) ([]fabric.Domain, error) {
	var doms []fabric.Domain
	for _, p := range providers {
		d, err := p.Open(cfg)
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
