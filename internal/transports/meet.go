package transports

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/wire"
)

// nodeVar divides the ranks of one machine as if they were on several: a
// machine's transports do not connect ranks with different names.
const nodeVar = "WEFT_NODE"

// card is what every rank sends to every other.
type card struct {
	Wire   int               `json:"wire"`
	Arch   string            `json:"arch"`
	Fabric string            `json:"fabric"` // all transports of the choice
	Node   string            `json:"node,omitempty"`
	Host   string            `json:"host"`
	Ways   map[string][]byte `json:"ways"` // the address at each transport that the rank has

	// GetMin, on the card of a host's first rank, is the length in bytes from
	// which messages of the host are read from their sender's memory.
	GetMin int `json:"getmin,omitempty"`
}

// exchange gives every rank the bytes of every rank: Exchange of a launch.Job.
type exchange func(ctx context.Context, mine []byte) ([][]byte, error)

// meet exchanges cards over the bootstrap and checks that all ranks use the same
// protocol. A rank is reached over the first transport that reaches it and that
// both have: both ranks choose the same.
func (t table) meet(ctx context.Context, j *launch.Job, exchange exchange, c choice, opened []open, log *slog.Logger) (*Routes, error) {
	mine := card{Wire: wire.Version, Arch: runtime.GOARCH, Fabric: c.transports.name(), Node: os.Getenv(nodeVar), Host: hostName(), Ways: map[string][]byte{}}
	r := &Routes{Via: make([]int, j.Size), Addrs: make([][]byte, j.Size)}
	var in table
	for _, o := range opened {
		mine.Ways[o.name] = o.domain.Addr()
		r.Domains = append(r.Domains, o.domain)
		in = append(in, o.transport)
	}
	r.Fabric = in.name()
	var err error
	if mine.GetMin, err = thresholdOfHost(j, opened, log); err != nil {
		return nil, err
	}
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := exchange(ctx, b)
	if err != nil {
		return nil, err
	}
	var hosts hostNames
	for i, b := range all {
		var its card
		if err := json.Unmarshal(b, &its); err != nil {
			return nil, fmt.Errorf("rank %d: what it says of itself can't be read: %w", i, err)
		}
		if err := mine.fits(i, its); err != nil {
			return nil, err
		}
		if i == j.LocalRanks[0] {
			adoptThreshold(its.GetMin, opened)
		}
		k := slices.IndexFunc(in, func(tr transport) bool {
			_, has := its.Ways[tr.name]
			return has && tr.reaches(j, i, mine.Node, its.Node)
		})
		if k < 0 {
			return nil, mine.apart(i, its, t)
		}
		r.Via[i], r.Addrs[i] = k, its.Ways[in[k].name]
		r.Hosts = append(r.Hosts, hosts.name(j.Hosts[i], its))
	}
	return r, nil
}

// reaches reports whether the transport connects this rank with rank i, given
// that both have it and given the names of their nodes.
func (tr transport) reaches(j *launch.Job, i int, mine, its string) bool {
	switch tr.reach {
	case process:
		return i == j.Rank
	case machine:
		return slices.Contains(j.LocalRanks, i) && mine == its
	}
	return true
}

// fits returns an error if rank i differs from this rank in a way that matters.
func (mine card) fits(i int, its card) error {
	switch {
	case its.Wire != mine.Wire:
		return fmt.Errorf("rank %d speaks wire version %d and this rank %d: run the same build of Weft on all ranks", i, its.Wire, mine.Wire)
	case its.Arch != mine.Arch:
		return fmt.Errorf("rank %d runs on %s and this rank on %s: all ranks need one architecture", i, its.Arch, mine.Arch)
	case its.Fabric != mine.Fabric:
		remedy := "choose the same on all ranks"
		if (its.Node == "") != (mine.Node == "") {
			remedy += ", and set " + nodeVar + " for all or for none"
		}
		return fmt.Errorf("rank %d uses fabric %s and this rank %s: %s", i, its.Fabric, mine.Fabric, remedy)
	}
	return nil
}

// apart returns why no transport connects this rank with rank i.
func (mine card) apart(i int, its card, t table) error {
	ways := func(c card) string { return strings.Join(slices.Sorted(maps.Keys(c.Ways)), ", ") }
	if mine.Node != its.Node {
		return unsupported("rank %d is on node %q (%s) and this rank on %q: of %s none joins nodes; %s, or leave %s alone",
			i, its.Node, nodeVar, mine.Node, mine.Fabric, t.networkRemedy(), nodeVar)
	}
	return unsupported("rank %d has the transports %s, this rank has %s, and none of both joins the two: name a fabric that all ranks have (%s), and its errors say what is missing",
		i, ways(its), ways(mine), fabricVar)
}
