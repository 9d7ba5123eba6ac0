package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// leastMTU is that of IPv6 (RFC 8200 §5).
const leastMTU = 1280

// shared are addresses that many hosts have alike, by what gives them.
var shared = []struct {
	prefix netip.Prefix
	of     string
}{
	{netip.MustParsePrefix("172.17.0.0/16"), "Docker's bridge"},
	{netip.MustParsePrefix("10.88.0.0/16"), "Podman's bridge"},
	{netip.MustParsePrefix("192.168.122.0/24"), "libvirt's bridge"},
	{netip.MustParsePrefix("10.0.2.15/32"), "a guest behind QEMU's or VirtualBox's NAT"},
	{netip.MustParsePrefix("169.254.0.0/16"), "an interface that configured itself"},
}

// interfaces looks at the addresses that ranks of several hosts use over tcp.
func (m *Machine) interfaces() Finding {
	all, err := m.Interfaces()
	var used, doubtful, small []string
	for _, a := range all {
		if !a.Used {
			continue
		}
		name := a.Interface + " " + a.Addr.String()
		used = append(used, fmt.Sprintf("%s (MTU %d)", name, a.MTU))
		for _, s := range shared {
			if s.prefix.Contains(a.Addr) {
				doubtful = append(doubtful, fmt.Sprintf("%s is an address of %s", name, s.of))
			}
		}
		if a.MTU > 0 && a.MTU < leastMTU && !slices.Contains(small, a.Interface) {
			small = append(small, a.Interface)
		}
	}
	const name = "WEFT_TCP_IF"
	switch {
	case len(used) == 0 && err != nil:
		return warn("no address for ranks of several hosts: "+err.Error(), "bring an interface up that leads to the other hosts, or name one in "+name)
	case len(used) == 0:
		return warn("no address for ranks of several hosts", "bring an interface up that leads to the other hosts, or name one in "+name)
	case len(doubtful) > 0:
		return warn("several hosts may have the same address: "+strings.Join(doubtful, "; "), "name the network that joins the hosts in "+name+", such as "+name+"=10.0.0.0/8")
	case len(small) > 0:
		return warn("an MTU below "+fmt.Sprint(leastMTU)+": "+strings.Join(used, ", "), "ip link set mtu 1500 dev "+small[0])
	}
	return ok("ranks of several hosts use " + strings.Join(used, ", "))
}

// devices looks at the RDMA devices.
func (m *Machine) devices() Finding {
	all, err := m.Devices()
	if err != nil {
		return bad(err.Error(), "see docs/infiniband.md; until then use tcp")
	}
	if len(all) == 0 {
		return ok("none: ranks of several hosts use tcp")
	}
	var usable, broken []string
	for _, d := range all {
		if d.Problem != nil {
			broken = append(broken, d.Name+": "+d.Problem.Error())
			continue
		}
		usable = append(usable, strings.TrimSpace(d.Name+" "+strings.Join(d.Ports, ", ")))
	}
	switch {
	case len(usable) == 0:
		return bad(strings.Join(broken, "; "), "see docs/infiniband.md; until then use tcp")
	case len(broken) > 0:
		return warn(strings.Join(append(usable, broken...), "; "), "see docs/infiniband.md, or name the ports to use in WEFT_VERBS_DEV")
	}
	return ok(strings.Join(usable, "; "))
}
