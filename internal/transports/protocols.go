package transports

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
)

// Protocol is how messages from a length on go over a transport, up to the length of
// the next Protocol of the same memory.
type Protocol struct {
	From  int    // bytes
	Alloc bool   // only of memory of mpi.Alloc, else of all memory
	Way   string // "rendezvous by Get"
	What  string // what happens, in words
	Why   string // what decides From
}

// Protocols lists the protocols of a transport on this machine, the shortest messages
// first and those for memory of mpi.Alloc last, with the user's settings. It opens the transport for that, and closes it. The
// error says why it can't be used. Local.
func Protocols(transport string) ([]Protocol, error) { return transports.protocols(transport) }

func (t table) protocols(name string) (list []Protocol, err error) {
	parts, err := t.parse(name)
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 {
		return nil, unsupported("%s is no single transport: ask for each of its parts", name)
	}
	p := parts[0].provider(2)
	if err := available(p); err != nil {
		return nil, err
	}
	cfg := fabric.Config{Size: 2, Job: rand.Text(), Options: options(p), Log: slog.New(slog.DiscardHandler)}
	rand.Read(cfg.Key[:]) // crypto/rand.Read never fails
	d, err := fabric.Open(p, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	why := "where the two break even for this transport"
	if a, ok := d.(adopter); ok {
		found, err := t.sharedThreshold()
		if err != nil {
			return nil, err
		}
		a.SetGetMin(found.Bytes)
		why = found.why()
	}
	return protocols(d.Caps(), why), nil
}

// why says where the length is from.
func (t Threshold) why() string {
	switch {
	case t.Set:
		return "WEFT_SHM_GET_MIN"
	case t.Measured:
		return "measured on this machine: from here on a read of the sender's memory beats two copies"
	}
	return fmt.Sprintf("a default, since it could not be measured: %v", t.Err)
}

// protocols are those that pt2pt takes over a domain of these capabilities; why is
// what decides RndvMin.
func protocols(c fabric.Caps, why string) []Protocol {
	list := []Protocol{{Way: "eager", What: "one packet, sent at once", Why: "a copy is cheap, and its sender goes on"}}
	large := Protocol{From: c.RndvMin, Why: why}
	switch {
	case c.Put && c.PutFirst:
		large.Way, large.What = "rendezvous by Put", "announced; the sender writes it into the receiver's memory"
	case c.Get:
		large.Way, large.What = "rendezvous by Get", "announced; the receiver reads it from the sender's memory, or gets it in packets where that is not permitted"
	default:
		large.Way, large.What = "rendezvous", "announced; sent in packets once its receive is there"
	}
	if c.RndvMin > c.MaxEager+1 {
		list = append(list, Protocol{From: c.MaxEager + 1, Way: "eager, in packets",
			What: fmt.Sprintf("packets of %d bytes, sent at once, so that the copies in and out overlap", c.Chunk), Why: fmt.Sprintf("the longest packet has %d", c.MaxEager)})
	}
	list = append(list, large)
	if m := c.RndvMinMapped; m < c.RndvMin {
		list = append(list, Protocol{From: m, Alloc: true, Way: large.Way,
			What: "announced; the receiver copies from the sender's memory, which it has mapped", Why: "a copy without a system call pays earlier"})
	}
	return list
}
