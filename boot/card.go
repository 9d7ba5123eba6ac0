package boot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

// card is what a rank tells the others about itself where the launcher can't
// (PMI-1):
//
//	0   version  1 byte   cardVersion
//	1   leads    1 byte   1 on rank 0's card, else 0
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

// newCard returns this process's card. Rank 0 makes the job's id and key.
func newCard(rank int) (card, error) {
	var c card
	cores, err := allowedCores()
	if err != nil {
		return c, err
	}
	if c.host, err = thisHost(); err != nil {
		return c, err
	}
	for _, core := range cores {
		for core/8 >= len(c.cores) {
			c.cores = append(c.cores, 0)
		}
		c.cores[core/8] |= 1 << (core % 8)
	}
	if rank == 0 {
		c.leads = true
		c.id, c.key = newIdentity()
	}
	return c, nil
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
// one pid namespace. Containers that do not share those count as hosts.
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
