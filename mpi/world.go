package mpi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/verbs"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/pt2pt"
)

// World is a rank's membership in its job (MPI-4.0 §11.2): from Init or Run to
// Finalize. It is safe for concurrent use.
type World struct {
	job       *boot.Job // nil for ranks that are goroutines
	fabric    string
	dom       fabric.Domain
	loop      *progress.Loop
	comm      *Comm
	finalized atomic.Bool
	log       *slog.Logger
	dog       watchdog
	contexts  atomic.Uint32 // made by this rank
}

// Fabrics lists the names that WithFabric takes.
func Fabrics() []string { return []string{"auto", "shm", "mem", "verbs"} }

// Init finds the job this process was started in and connects to it
// (MPI_Init, MPI-4.0 §11.2.1). It is collective and blocks until all ranks have
// called it or ctx ends. Without a launcher the World has one rank; if the
// environment speaks of several and they can't be found, Init fails and says
// what to do.
func Init(ctx context.Context, opts ...Option) (*World, error) {
	w, err := initWorld(ctx, makeOptions(opts))
	if err != nil {
		return nil, fail("Init", err)
	}
	return w, nil
}

func initWorld(ctx context.Context, o options) (*World, error) {
	if err := checkFabric(o.fabric); err != nil {
		return nil, err
	}
	job, err := boot.Discover(ctx)
	if err != nil {
		return nil, err
	}
	w, err := join(ctx, job, o)
	if err != nil {
		return nil, errors.Join(err, job.Close())
	}
	return w, nil
}

func join(ctx context.Context, job *boot.Job, o options) (*World, error) {
	name, provider, err := choose(o.fabric, job)
	if err != nil {
		return nil, err
	}
	if err := provider.Available(); err != nil {
		return nil, fmt.Errorf("fabric %s is not available: %w", name, err)
	}
	dom, err := provider.Open(fabric.Config{Rank: fabric.Peer(job.Rank), Size: job.Size, Job: job.ID, Log: o.log})
	if err != nil {
		return nil, err
	}
	addrs, err := meet(ctx, job, name, dom.Addr())
	if err != nil {
		return nil, errors.Join(err, dom.Close())
	}
	w := newWorld(name, dom, addrs, job.Rank, progress.Config{Oversubscribed: job.Oversubscribed()}, o)
	w.job = job
	if !o.noSignal {
		w.reportOnQuit()
	}
	return w, nil
}

func newWorld(name string, dom fabric.Domain, addrs [][]byte, rank int, cfg progress.Config, o options) *World {
	cfg.Domain, cfg.Addrs, cfg.Log, cfg.NoThread = dom, addrs, o.log, o.noThread
	w := &World{fabric: name, dom: dom, loop: progress.New(cfg), log: o.log}
	p2p := pt2pt.New(w.loop, rank, len(addrs))
	p2p.Limit(o.limits)
	w.comm = &Comm{w: w, p2p: p2p, rank: rank, size: len(addrs)}
	w.startWatchdog(o.watch, o.watchTo)
	return w
}

// choose finds the transport for a job of processes.
func choose(name string, job *boot.Job) (string, fabric.Provider, error) {
	if env := os.Getenv("WEFT_FABRIC"); name == "auto" && env != "" {
		if err := checkFabric(env); err != nil {
			return "", nil, fmt.Errorf("WEFT_FABRIC: %w", err)
		}
		name = env
	}
	if job.Size == 1 && name != "shm" && name != "verbs" {
		return "mem", mem.NewNetwork(1).Provider(), nil
	}
	switch {
	case name == "mem":
		return "", nil, badArg("Init", ErrUnsupported,
			"fabric mem joins the goroutines of one process, not %d processes: use shm, or mpi.Run", job.Size)
	case name == "verbs":
		return name, verbs.Provider{}, nil
	case len(job.LocalRanks) < job.Size:
		return "", nil, badArg("Init", ErrUnsupported,
			"%d of %d ranks are on other machines, which shared memory does not reach: choose the fabric verbs if they have RDMA devices, or start all ranks on one machine",
			job.Size-len(job.LocalRanks), job.Size)
	}
	return "shm", shm.Provider{}, nil
}

func checkFabric(name string) error {
	for _, f := range Fabrics() {
		if f == name {
			return nil
		}
	}
	return badArg("Init", ErrArg, "unknown fabric %q: use one of %s", name, strings.Join(Fabrics(), ", "))
}

// Comm is the communicator of all ranks (MPI_COMM_WORLD). Local.
func (w *World) Comm() *Comm { return w.comm }

// Fabric is the name of the transport in use. Local.
func (w *World) Fabric() string { return w.fabric }

// Finalize ends the membership (MPI_Finalize, MPI-4.0 §11.2.2). It is collective:
// it blocks until every rank has called it. All operations must have been
// completed; those that have not end with ErrComm, or with ErrProcFailed where
// the other rank was gone first. Afterwards every call on the World answers
// ErrComm. Everything is released also when an error, a dead
// rank say, is returned.
func (w *World) Finalize() error {
	const call = "Finalize"
	err := w.comm.Barrier()
	if w.finalized.Swap(true) {
		return w.comm.explain(call, 0, 0, false)
	}
	w.noReportOnQuit()
	w.stopWatchdog()
	w.loop.Close()
	err = errors.Join(err, w.dom.Close())
	if w.job != nil {
		err = errors.Join(err, w.job.Close())
	}
	return fail(call, err)
}
