package transports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/launch"
)

var discard = slog.New(slog.DiscardHandler)

// patience is when a test calls something hung.
const patience = 5 * time.Minute

// kind is a transport that exists in tests only, with what ranks do to it.
type kind struct {
	name     string
	reach    reach
	missing  error    // why it is not available
	broken   error    // why Open fails, though it is available
	knows    []string // its options
	measures bool     // it has a threshold

	mu      sync.Mutex
	configs []fabric.Config // of Open
	weighed atomic.Int32
	open    atomic.Int32 // domains that are
}

func (k *kind) row() transport {
	return transport{k.name, k.reach, func(int) fabric.Provider {
		if k.measures {
			return measuring{fake{k}}
		}
		return fake{k}
	}}
}

// tableOf is a table of such transports.
func tableOf(kinds ...*kind) (t table) {
	for _, k := range kinds {
		t = append(t, k.row())
	}
	return t
}

// fake is the Provider of a kind.
type fake struct{ *kind }

func (f fake) Name() string      { return f.name }
func (f fake) Options() []string { return f.knows }
func (f fake) Available() error  { return f.missing }
func (f fake) Open(c fabric.Config) (fabric.Domain, error) {
	if err := errors.Join(f.missing, f.broken); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.configs = append(f.configs, c)
	f.kind.open.Add(1)
	return &domain{kind: f.kind, addr: fmt.Sprint(f.name, " ", c.Rank)}, nil
}

// domain is the Domain of a kind. It carries nothing.
type domain struct {
	fabric.Domain
	kind   *kind
	addr   string
	getMin int
}

func (d *domain) Addr() []byte { return []byte(d.addr) }
func (d *domain) Caps() fabric.Caps {
	return fabric.Caps{MaxEager: 1, Chunk: 1, RndvMin: 1, RndvMinMapped: 1}
}
func (d *domain) Close() error { d.kind.open.Add(-1); return nil }
func (d *domain) SetGetMin(n int) {
	d.getMin = n
}

// measuring is a fake with a threshold.
type measuring struct{ fake }

const weighedAt = 777

func (m measuring) GetMin(options map[string]string) (n int, err error) {
	if v := options["WEFT_FAKE_GET_MIN"]; v != "" {
		_, err = fmt.Sscan(v, &n)
	}
	return n, err
}

func (m measuring) Weigh() (int, error) {
	m.weighed.Add(1)
	return weighedAt, errors.New("the processors are too busy")
}

// meeting gives each of n ranks the bytes of all, once.
func meeting(n int) func(rank int) exchange {
	all := make([][]byte, n)
	var missing atomic.Int32
	missing.Store(int32(n))
	met := make(chan struct{})
	return func(rank int) exchange {
		return func(ctx context.Context, mine []byte) ([][]byte, error) {
			all[rank] = slices.Clone(mine)
			if missing.Add(-1) == 0 {
				close(met)
			}
			select {
			case <-met:
			case <-ctx.Done():
			}
			if missing.Load() == 0 {
				return all, nil
			}
			return nil, ctx.Err()
		}
	}
}

// hosts makes the Jobs of ranks on these hosts.
func hosts(of ...uint32) []*launch.Job {
	jobs := make([]*launch.Job, len(of))
	for rank, mine := range of {
		j := &launch.Job{Rank: rank, Size: len(of), ID: "job", Key: launch.Key{1, 2, 3}, Hosts: of}
		for i, its := range of {
			if its == mine {
				j.LocalRanks = append(j.LocalRanks, i)
			}
		}
		jobs[rank] = j
	}
	return jobs
}

// joinAll joins the ranks of jobs over the fabric name, each with its table.
func joinAll(t *testing.T, jobs []*launch.Job, name string, tables func(rank int) table) ([]*Routes, []error) {
	t.Helper()
	return joinLogged(t, jobs, name, tables, discard)
}

func joinLogged(t *testing.T, jobs []*launch.Job, name string, tables func(rank int) table, log *slog.Logger) ([]*Routes, []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all, errs := make([]*Routes, len(jobs)), make([]error, len(jobs))
	meet := meeting(len(jobs))
	var wg sync.WaitGroup
	for rank, j := range jobs {
		wg.Go(func() {
			all[rank], errs[rank] = tables(rank).join(ctx, j, meet(rank), name, Settings{Log: log})
			if errs[rank] != nil {
				cancel() // the others would wait for it
			}
		})
	}
	wg.Wait()
	return all, errs
}

// ways says over which transport a rank reaches each: "shm shm tcp".
func ways(t *testing.T, r *Routes) string {
	t.Helper()
	names := strings.Split(r.Fabric, "+")
	if len(names) != len(r.Domains) {
		t.Errorf("%s has %d domains", r.Fabric, len(r.Domains))
	}
	var via []string
	for i, k := range r.Via {
		if want := fmt.Sprint(names[k], " ", i); string(r.Addrs[i]) != want {
			t.Errorf("rank %d has the address %q, want %q", i, r.Addrs[i], want)
		}
		via = append(via, names[k])
	}
	return strings.Join(via, " ")
}
