package launch

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// pmiGroup is the ranks of one host that one of them, the leader, exchanges
// for. In the process manager's key-value space it is:
//
//	version  1 byte   groupVersion
//	count    uvarint  of ranks
//	ranks    uvarints, ascending; each but the first less the one before
//	card     of the group: the cores of all, the id and key if rank 0 is in it
type pmiGroup struct {
	ranks []int // ascending
	card  card
}

const groupVersion = 2 // 1 began a card, from before there were groups

func (g pmiGroup) append(b []byte) []byte {
	b = append(b, groupVersion)
	b = binary.AppendUvarint(b, uint64(len(g.ranks)))
	before := 0
	for _, r := range g.ranks {
		b = binary.AppendUvarint(b, uint64(r-before))
		before = r
	}
	return g.card.append(b)
}

// parsePMIGroup returns a group that keeps a slice of b. lowest is the rank
// that it must begin with, in a job of size ranks.
func parsePMIGroup(b []byte, lowest, size int) (g pmiGroup, err error) {
	if len(b) < 1 || b[0] != groupVersion {
		return g, protocolError("not a group of version %d: %q; run one release of Weft on all ranks", groupVersion, b[:min(len(b), 8)])
	}
	b = b[1:]
	next := func() (v uint64, ok bool) {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return v, n > 0
	}
	count, ok := next()
	if !ok || count < 1 || count > uint64(size) {
		return g, protocolError("group of %d ranks in a job of %d", count, size)
	}
	g.ranks = make([]int, count)
	before := uint64(0)
	for i := range g.ranks {
		d, ok := next()
		if !ok || d >= uint64(size) || before+d >= uint64(size) || i == 0 && d != uint64(lowest) || i > 0 && d == 0 {
			return g, protocolError("group of rank %d whose ranks are not ascending from there, below %d", lowest, size)
		}
		before += d
		g.ranks[i] = int(before)
	}
	if g.card, err = parseCard(b); err != nil {
		return g, err
	}
	if g.card.leads != (lowest == 0) {
		return g, protocolError("only the group of rank 0 gives the job its id")
	}
	return g, nil
}

// readGroups finds the groups of a job of size ranks, in the order of their
// lowest ranks. value returns what the group of a lowest rank says of itself:
// the lowest rank that no earlier group has is always the lowest of its group,
// so nothing has to be known beforehand.
func readGroups(size int, value func(lowest int) ([]byte, error)) (groups []pmiGroup, err error) {
	known := make([]bool, size)
	for rank := range size {
		if known[rank] {
			continue
		}
		b, err := value(rank)
		if err != nil {
			return nil, err
		}
		g, err := parsePMIGroup(b, rank, size)
		if err != nil {
			return nil, fmt.Errorf("value of rank %d: %w", rank, err)
		}
		for _, r := range g.ranks {
			if known[r] {
				return nil, protocolError("rank %d is in two groups, one of them that of rank %d: another job may use the same process manager's name", r, rank)
			}
			known[r] = true
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// jobFromGroups makes a job from all its groups; the caller sets its bootstrap.
func jobFromGroups(rank, size int, groups []pmiGroup) *Job {
	j := &Job{Rank: rank, Size: size, Launcher: LauncherPMI1, Hosts: make([]uint32, size), events: make(chan Event)}
	j.ID, j.Key = hex.EncodeToString(groups[0].card.id[:]), groups[0].card.key
	hosts := map[hostID]uint32{}
	for _, g := range groups {
		if _, known := hosts[g.card.host]; !known {
			hosts[g.card.host] = uint32(len(hosts))
		}
		for _, r := range g.ranks {
			j.Hosts[r] = hosts[g.card.host]
		}
	}
	for r, h := range j.Hosts {
		if h == j.Hosts[rank] {
			j.LocalRanks = append(j.LocalRanks, r)
		}
	}
	var union []byte
	for _, g := range groups {
		if hosts[g.card.host] == j.Hosts[rank] {
			union = joinMasks(union, g.card.cores)
		}
	}
	for _, m := range union {
		j.Cores += bits.OnesCount8(m)
	}
	return j
}

// joinMasks adds the bits of b to a, which is changed.
func joinMasks(a, b []byte) []byte {
	for i, m := range b {
		if i == len(a) {
			a = append(a, 0)
		}
		a[i] |= m
	}
	return a
}

// appendParts appends what the ranks of a group bring to an exchange, in the
// order of their ranks.
func appendParts(b []byte, parts [][]byte) []byte {
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}

// maxParts is the most bytes that appendParts makes of n parts.
func maxParts(n int) int { return n * (binary.MaxVarintLen32 + MaxExchange) }

// parseParts returns n slices of b, none nil.
func parseParts(b []byte, n int) ([][]byte, error) {
	parts := make([][]byte, n)
	for i := range parts {
		length, k := binary.Uvarint(b)
		if k <= 0 || length > MaxExchange || length > uint64(len(b)-k) {
			return nil, protocolError("value of a group ends in part %d of %d", i, n)
		}
		end := k + int(length)
		parts[i], b = b[k:end:end], b[end:]
	}
	if len(b) != 0 {
		return nil, protocolError("value of a group has %d bytes after its last part", len(b))
	}
	return parts, nil
}
