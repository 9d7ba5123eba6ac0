package tcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// protocolVersion is of everything that ranks exchange through this transport.
const protocolVersion = 4

// card is what a rank publishes for its peers.
type card struct {
	Version int    `json:"v"`
	Rank    uint32 `json:"rank"`
	// Listen are the addresses that the greeting is answered at, the best first.
	// Of each, Bits has how many bits its network has, and Speeds that of its
	// interface. Either may be missing.
	Listen []netip.AddrPort `json:"listen"`
	Bits   []int            `json:"bits,omitempty"`
	Speeds []int            `json:"speeds,omitempty"` // Mbit/s, 0 where it is not known
	// Token is the rank's secret in a job without a key: only ranks of the job get
	// to see cards.
	Token greet.Token `json:"token,omitzero"`
}

// door is an address that a rank listens at.
type door struct {
	addr  netip.AddrPort
	bits  int // of the address that the interface's network has
	speed int // Mbit/s, 0 where it is not known
}

// network is the prefix of the door's interface.
func (d door) network() netip.Prefix { return netip.PrefixFrom(d.addr.Addr(), d.bits).Masked() }

// maxCard and maxDoors bound a card, in bytes and in addresses.
const (
	maxCard  = 2048
	maxDoors = 16
)

func (a card) encode() []byte {
	b, err := json.Marshal(a)
	if err != nil {
		return nil // no value of the type fails
	}
	return b
}

func decodeCard(b []byte) (a card, err error) {
	if len(b) > maxCard {
		return a, fmt.Errorf("address of %d bytes, the most is %d", len(b), maxCard)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("not an address of this transport: %w", err)
	}
	if a.Version != protocolVersion {
		return a, fmt.Errorf("protocol version %d meets version %d: run the same build of Weft on all ranks", a.Version, protocolVersion)
	}
	if len(a.Listen) == 0 || len(a.Listen) > maxDoors || slices.ContainsFunc(a.Listen, func(l netip.AddrPort) bool { return !l.IsValid() }) {
		return a, errors.New("an address without a place to connect to, or with too many")
	}
	return a, nil
}

// open adds a door.
func (a *card) open(d door) {
	a.Listen, a.Bits, a.Speeds = append(a.Listen, d.addr), append(a.Bits, d.bits), append(a.Speeds, d.speed)
}

// doors are the card's.
func (a card) doors() (out []door) {
	for i, l := range a.Listen {
		d := door{addr: l, bits: l.Addr().BitLen()}
		if i < len(a.Bits) && a.Bits[i] >= 0 && a.Bits[i] < d.bits {
			d.bits = a.Bits[i]
		}
		if i < len(a.Speeds) {
			d.speed = min(max(a.Speeds[i], 0), 1<<30)
		}
		out = append(out, d)
	}
	return out
}

// order returns the peer's doors in the order in which they are tried, mine being
// the rank's own: one that it has reached before, those of a network that it is in,
// then the faster, then as the peer lists them.
func order(peer, mine []door, won netip.AddrPort) []door {
	rank := func(d door) int64 {
		n := int64(0)
		// The link is as fast as the slower end.
		speed := 0
		for _, m := range mine {
			if m.network() == d.network() {
				n, speed = 1, max(speed, min(m.speed, d.speed))
			}
		}
		if n == 0 {
			speed = d.speed
		}
		if d.addr == won {
			n = 2
		}
		return n<<32 | int64(speed)
	}
	out := slices.Clone(peer)
	slices.SortStableFunc(out, func(a, b door) int { return cmp.Compare(rank(b), rank(a)) })
	return out
}
