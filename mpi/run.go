package mpi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/verbs"
	"github.com/weft-mpi/weft/progress"
)

// maxRun bounds the ranks of one process: beyond it the n² queues between them
// are a mistake.
const maxRun = 1024

// errGoexit is the error of a rank whose function has not returned: it has ended
// its goroutine, as FailNow of package testing does.
var errGoexit = errors.New("its function has ended the goroutine (runtime.Goexit) instead of returning")

// Run calls f on n ranks that are goroutines of this process, each with a World
// of its own, and blocks until all have returned. A World that f has not
// finalized is finalized by Run. A rank that fails, in f or in that, or whose
// goroutine ends inside f, counts as dead to the others, so that they fail too
// instead of waiting for it; the result joins the errors of all ranks.
func Run(n int, f func(*World) error, opts ...Option) error {
	worlds, err := worldsOf(n, makeOptions(opts))
	if err != nil {
		return fail("Run", err)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, w := range worlds {
		wg.Go(func() {
			returned := false
			defer func() {
				if !returned {
					errs[i] = fmt.Errorf("rank %d: %w", i, errGoexit)
					wg.Go(func() { bury(worlds, i) }) // a panic is not to wait for it
				}
			}()
			err := f(w)
			returned = true
			if err == nil && !w.finalized.Load() {
				err = w.Finalize()
			}
			if err != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, err)
				bury(worlds, i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// bury tells the others that a rank has failed, and releases its World.
func bury(worlds []*World, rank int) {
	for k, w := range worlds {
		if k != rank {
			w.loop.Fail(fabric.Peer(rank), fmt.Errorf("%w: rank %d has failed", fabric.ErrPeerDown, rank))
		}
	}
	worlds[rank].abandon()
}

func worldsOf(n int, o options) ([]*World, error) {
	if n < 1 || n > maxRun {
		return nil, badArg("Run", ErrArg, "%d ranks: a process runs 1 to %d", n, maxRun)
	}
	if err := checkFabric("Run", o.fabric); err != nil {
		return nil, err
	}
	var provider fabric.Provider
	switch o.fabric {
	case both:
		return nil, badArg("Run", ErrUnsupported, "fabric %s is for processes: goroutines are all on one machine", both)
	case "shm":
		provider = shm.Provider{}
	case "verbs":
		provider = verbs.Provider{Arena: arena{}}
	default:
		provider = mem.NewNetwork(n).Provider()
	}
	var doms []fabric.Domain
	var addrs [][]byte
	job := rand.Text()
	if err := available("Run", provider); err != nil {
		return nil, err
	}
	for i := range n {
		dom, err := provider.Open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: job, Log: o.log, Unattended: o.noThread})
		if err != nil {
			return nil, errors.Join(err, closeAll(doms))
		}
		doms, addrs = append(doms, dom), append(addrs, dom.Addr())
	}
	worlds := make([]*World, n)
	for i := range worlds {
		cfg := progress.Config{Oversubscribed: n > runtime.GOMAXPROCS(0), Ranks: n}
		worlds[i] = newWorld(provider.Name(), doms[i:i+1], routes{addrs: addrs}, i, cfg, o)
	}
	return worlds, nil
}

// abandon releases the World without the others.
func (w *World) abandon() {
	if !w.finalized.Swap(true) {
		w.stopWatchdog()
		w.loop.Close()
		closeAll(w.doms)
	}
}
