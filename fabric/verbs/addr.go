package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// address is what a rank publishes for its peers.
type address struct {
	Version int    `json:"v"`
	Rank    uint32 `json:"rank"`
	Listen  string `json:"listen"` // where the handshake is answered, host:port
	// Token is the rank's secret: only ranks of the job get to see addresses.
	Token greet.Token `json:"token"`
}

// protocolVersion is of everything that ranks exchange through this transport.
const protocolVersion = 13

func (a address) encode() []byte {
	b, err := json.Marshal(a)
	if err != nil {
		return nil // no value of the type fails
	}
	return b
}

func decodeAddress(b []byte) (address, error) {
	var a address
	if len(b) > 1024 {
		return a, fmt.Errorf("address of %d bytes", len(b))
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("not an address of this transport: %w", err)
	}
	if a.Version != protocolVersion {
		return a, fmt.Errorf("protocol version %d meets version %d: run the same build of Weft on all ranks", a.Version, protocolVersion)
	}
	if _, _, err := net.SplitHostPort(a.Listen); err != nil {
		return a, fmt.Errorf("not an address of this transport: %w", err)
	}
	return a, nil
}

// listenHost is the address of this machine at which peers reach the handshake:
// the RoCE address itself where it is one, else that of the device's network
// interface, else any that is not local to the machine.
func listenHost(g GID, ethernet bool) (string, error) {
	if ethernet {
		a := g.Address.Unmap()
		if a.IsLinkLocalUnicast() && a.Is6() && g.Netdev != "" {
			a = a.WithZone(g.Netdev)
		}
		return a.String(), nil
	}
	best := ""
	ifs, err := net.Interfaces()
	if err != nil {
		return "", fmt.Errorf("list network interfaces: %w", err)
	}
	for _, i := range ifs {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		as, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, x := range as {
			n, ok := x.(*net.IPNet)
			if !ok {
				continue
			}
			a, _ := netip.AddrFromSlice(n.IP)
			a = a.Unmap()
			switch {
			case a.IsLinkLocalUnicast():
			case i.Name == g.Netdev:
				return a.String(), nil // IPoIB of the same port
			case best == "" || !a.IsLoopback() && a.Is4() && netip.MustParseAddr(best).IsLoopback():
				best = a.String()
			}
		}
	}
	if best == "" {
		return "", errors.New("no network interface with an address, which the exchange of queue pair numbers needs")
	}
	return best, nil
}
