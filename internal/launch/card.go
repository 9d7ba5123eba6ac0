package launch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"strings"

	"github.com/weft-mpi/weft/internal/limits"
)

// card is what a rank, or a group of them on one host, tells the others about
// itself, since a launcher can't: where it runs. Under PMI-1 the group of rank 0
// also gives the job its id and key; the local launcher does that itself.
//
//	0   version  1 byte   cardVersion
//	1   leads    1 byte   1 on the card of the group of rank 0, else 0
//	2   host     16 bytes
//	18  length   2 bytes  of cores
//	20  cores    bit mask, least core first
//	    id       16 bytes if leads
//	    key      32 bytes if leads
//
// Integers are little-endian.
type card struct {
	host  hostID
	cores []byte
	leads bool
	id    [16]byte
	key   Key
}

const (
	cardVersion = 1
	cardFixed   = 20
)

// newCard returns this process's card, without the job's id and key.
func newCard() (c card, err error) {
	cores, err := AllowedCores()
	if err != nil {
		return c, err
	}
	if c.host, err = thisHost(); err != nil {
		return c, limits.Named(err)
	}
	for _, core := range cores {
		for core/8 >= len(c.cores) {
			c.cores = append(c.cores, 0)
		}
		c.cores[core/8] |= 1 << (core % 8)
	}
	return c, nil
}

// settle sets the job's hosts, its local ranks and their cores by the cards of all
// ranks.
func (j *Job) settle(cards []card) {
	var union [maxCPUs / 8]byte
	hosts := map[hostID]uint32{}
	for i, c := range cards {
		if _, known := hosts[c.host]; !known {
			hosts[c.host] = uint32(len(hosts))
		}
		j.Hosts = append(j.Hosts, hosts[c.host])
		if c.host != cards[j.Rank].host {
			continue
		}
		j.LocalRanks = append(j.LocalRanks, i)
		for k, m := range c.cores {
			union[k] |= m
		}
	}
	for _, m := range union {
		j.Cores += bits.OnesCount8(m)
	}
}

func (c card) append(b []byte) []byte {
	leads := byte(0)
	if c.leads {
		leads = 1
	}
	b = append(b, cardVersion, leads)
	b = append(b, c.host[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(c.cores)))
	b = append(b, c.cores...)
	if c.leads {
		b = append(b, c.id[:]...)
		b = append(b, c.key[:]...)
	}
	return b
}

// parseCard returns a card that keeps a slice of b.
func parseCard(b []byte) (c card, err error) {
	if len(b) > 0 && b[0] != cardVersion {
		return c, protocolError("card of version %d, this program writes version %d; run one release of Weft on all ranks", b[0], cardVersion)
	}
	if len(b) < cardFixed {
		return c, protocolError("card of %d bytes, want at least %d", len(b), cardFixed)
	}
	if b[1] > 1 {
		return c, protocolError("card with flag %d", b[1])
	}
	c.leads = b[1] == 1
	copy(c.host[:], b[2:])
	n := int(binary.LittleEndian.Uint16(b[18:]))
	want := cardFixed + n
	if c.leads {
		want += len(c.id) + len(c.key)
	}
	if n > maxCPUs/8 || len(b) != want {
		return c, protocolError("card of %d bytes with a core mask of %d", len(b), n)
	}
	c.cores = b[cardFixed : cardFixed+n : cardFixed+n]
	if c.leads {
		copy(c.id[:], b[cardFixed+n:])
		copy(c.key[:], b[cardFixed+n+len(c.id):])
	}
	return c, nil
}

// hostID is equal on ranks that can share memory and see one another's
// processes: one boot of one kernel, one host name, one network namespace and
// one pid namespace. Containers that do not share those count as hosts, and so do
// those of scripts/hosts. The name alone tells nothing, since hosts may have the
// same one; it tells copies of a running virtual machine apart, which share the
// rest. A /dev/shm is no part of it: Weft keeps nothing there, so ranks with
// different ones share memory all the same.
type hostID [16]byte

func thisHost() (id hostID, err error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return id, fmt.Errorf("tell this host from others: %w", err)
	}
	name, err := os.Hostname()
	if err != nil {
		return id, fmt.Errorf("tell this host from others: %w", err)
	}
	parts := []string{strings.TrimSpace(string(boot)), name}
	for _, ns := range []string{"net", "pid"} {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		if err != nil {
			return id, fmt.Errorf("tell this host from others: %w", err)
		}
		parts = append(parts, link)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	copy(id[:], sum[:])
	return id, nil
}
