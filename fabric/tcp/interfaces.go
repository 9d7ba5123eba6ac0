package tcp

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weft-mpi/weft/fabric"
)

// Interfaces lists those of this machine, or of its network namespace.
func Interfaces() ([]Interface, error) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var out []Interface
	for _, i := range list {
		f := Interface{Name: i.Name, Up: i.Flags&net.FlagUp != 0, Loopback: i.Flags&net.FlagLoopback != 0, MTU: i.MTU, Speed: speed(i.Name)}
		if _, err := os.Stat(filepath.Join("/sys/class/net", i.Name, "bridge")); err == nil {
			f.Bridge = true
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok {
				if addr, ok := netip.AddrFromSlice(n.IP); ok {
					ones, _ := n.Mask.Size()
					f.Addrs = append(f.Addrs, netip.PrefixFrom(addr.Unmap(), ones))
				}
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// speed is in Mbit/s, 0 where the kernel knows none.
func speed(name string) int {
	b, err := os.ReadFile(filepath.Join("/sys/class/net", name, "speed"))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// interfaces is a variable so that tests can make it fail.
var interfaces = Interfaces

// Choices is Choose for the interfaces of this machine and the setting in options.
func (Provider) Choices(options map[string]string, local bool) ([]Choice, error) {
	have, err := interfaces()
	switch want := options[envInterfaces]; {
	case err == nil:
	case local && want == "": // 127.0.0.1 needs no list
		have = []Interface{{Name: "lo", Up: true, Loopback: true, Addrs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}}}
	default:
		return nil, &fabric.Error{Op: "list the network interfaces", Err: err,
			Remedy: "allow socket(AF_NETLINK) and bind to it (a seccomp profile may refuse them)"}
	}
	return Choose(have, options[envInterfaces], local)
}
