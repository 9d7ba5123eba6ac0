package transports

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/limits"
)

// Settings are the user's settings of the transports besides the fabric and
// their options.
type Settings struct {
	Log        *slog.Logger // never nil
	Unattended bool         // as in fabric.Config
}

// Routes are the ways from a rank to the ranks of its job.
type Routes struct {
	Fabric  string          // the transports in use: "shm+verbs"
	Domains []fabric.Domain // of these transports, in their order; the caller closes them
	Via     []int           // by rank: which of Domains reaches it
	Addrs   [][]byte        // by rank: its address there, for Connect
	Hosts   []string        // by rank: the name of its host, the same for ranks of one host only
}

// Join opens the transports of the fabric name, or of WEFT_FABRIC if name is
// Auto, and exchanges addresses with the other ranks of j. It is collective,
// uses one Exchange of j, and blocks until all ranks have called it or ctx ends.
// After an error everything is closed except j, which is the caller's.
//
// A NameError reports that there is no such fabric, an UnsupportedError that it
// can't connect these ranks. Errors of transports are *fabric.Error. Non-local.
func Join(ctx context.Context, j *launch.Job, name string, s Settings) (*Routes, error) {
	return transports.join(ctx, j, j.Exchange, name, s)
}

func (t table) join(ctx context.Context, j *launch.Job, exchange exchange, name string, s Settings) (*Routes, error) {
	c, err := t.choose(name, j)
	if err != nil {
		return nil, err
	}
	cfg := fabric.Config{
		Rank: fabric.Peer(j.Rank), Size: j.Size, Job: j.ID, Key: fabric.Key(j.Key), Hosts: j.Hosts,
		Log: s.Log, Unattended: s.Unattended,
	}
	opened, missing, err := c.open(cfg)
	if len(c.instead) > 0 && errors.Is(err, fabric.ErrUnsupported) {
		missing = err
		if opened, _, err = (choice{transports: c.instead}).open(cfg); err != nil {
			err = errors.Join(missing, err)
		}
	}
	if err != nil {
		return nil, limits.Named(err)
	}
	if !c.named && len(c.transports.within(machine, machine)) > 0 && opened[0].reach > machine && j.Rank == j.LocalRanks[0] {
		s.Log.Warn("the ranks of this host reach each other over "+opened[0].name+" only", "err", missing)
	}
	r, err := t.meet(ctx, j, exchange, c, opened, s.Log)
	if errors.Is(err, fabric.ErrUnsupported) { // of two ranks that have no transport in common
		err = errors.Join(err, missing)
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(opened))
	}
	return r, nil
}

// Goroutines opens the transport name, or mem if it is Auto, for n ranks of this
// process, and returns their Routes by rank. Errors are those of Join. Local.
func Goroutines(n int, name string, s Settings) ([]*Routes, error) {
	return transports.goroutines(n, name, s)
}

func (t table) goroutines(n int, name string, s Settings) ([]*Routes, error) {
	tr, err := t.forGoroutines(name)
	if err != nil {
		return nil, err
	}
	p := tr.provider(n)
	if err := available(p); err != nil {
		return nil, err
	}
	cfg := fabric.Config{Size: n, Job: rand.Text(), Options: options(p), Log: s.Log, Unattended: s.Unattended}
	rand.Read(cfg.Key[:]) // crypto/rand.Read never fails
	var opened []open
	addrs := make([][]byte, n)
	for i := range n {
		cfg.Rank = fabric.Peer(i)
		d, err := fabric.Open(p, cfg)
		if err != nil {
			return nil, errors.Join(limits.Named(err), closeAll(opened))
		}
		opened = append(opened, open{tr, p, d})
		addrs[i] = d.Addr()
	}
	all := make([]*Routes, n)
	names := slices.Repeat([]string{hostName()}, n)
	for i, o := range opened {
		all[i] = &Routes{Fabric: tr.name, Domains: []fabric.Domain{o.domain}, Via: make([]int, n), Addrs: addrs, Hosts: names}
	}
	return all, nil
}

// open is a transport that is open.
type open struct {
	transport
	provider fabric.Provider
	domain   fabric.Domain
}

// open opens the transports of a choice, or none. cfg has everything but the
// options. A transport that is not available, or that this rank can't use in this
// job, is skipped if it was neither named nor given options, and if another one is there
// that reaches as far. missing is why, of all that are skipped.
func (c choice) open(cfg fabric.Config) (opened []open, missing, err error) {
	var reaches [network + 1]struct{ wanted, there bool }
	for _, tr := range c.transports {
		p := tr.provider(1)
		cfg.Options = options(p)
		reaches[tr.reach].wanted = true
		d, err := fabric.Open(p, cfg)
		if err == nil {
			reaches[tr.reach].there = true
			opened = append(opened, open{tr, p, d})
			continue
		}
		why := available(p)
		if why == nil && errors.Is(err, fabric.ErrUnsupported) {
			why = unsupported("fabric %s can't be used in this job: %w", tr.name, err)
		}
		if why == nil {
			return nil, nil, errors.Join(err, closeAll(opened))
		}
		if c.named || len(cfg.Options) > 0 {
			return nil, nil, errors.Join(why, closeAll(opened))
		}
		cfg.Log.Debug("a transport is passed over", "transport", tr.name, "err", why)
		missing = errors.Join(missing, why)
	}
	farther := false
	for _, r := range slices.Backward(reaches[:]) {
		if farther = farther || r.there; r.wanted && !farther {
			return nil, nil, errors.Join(missing, closeAll(opened))
		}
	}
	return opened, missing, nil
}

// available returns why a transport can't be used here, or nil.
func available(p fabric.Provider) error {
	if err := p.Available(); err != nil {
		return unsupported("fabric %s is not available: %w", p.Name(), err)
	}
	return nil
}

// Available returns nil, or why the fabric name can't be used on this machine
// and what to do about it: the reason of the first missing transport. Local.
func Available(name string) error {
	parts, err := transports.parse(name)
	if err != nil {
		return err
	}
	for _, tr := range parts {
		if err := tr.provider(1).Available(); err != nil {
			return err
		}
	}
	return nil
}

func closeAll(opened []open) (err error) {
	for _, o := range opened {
		if e := o.domain.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("close %s: %w", o.name, e))
		}
	}
	return err
}
