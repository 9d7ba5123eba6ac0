package tcp

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/fabric"
)

// Interface is a network interface of this machine, as the choice sees it.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	Bridge   bool // joins other interfaces: of containers, of virtual machines
	Speed    int  // Mbit/s, 0 where it is not known
	MTU      int  // bytes
	Addrs    []netip.Prefix
}

// Choice is an address of this machine, and whether the transport listens at it.
type Choice struct {
	Interface Interface
	Addr      netip.Addr // the zero Addr for an interface without one
	Used      bool
	Why       string // why not, or what decided for it
}

// Choose decides which addresses a rank listens at. want is the setting
// WEFT_TCP_IF: names of interfaces and prefixes such as 10.0.0.0/8, separated by
// commas; empty for a choice by kind. local says that all ranks are on one host.
// The addresses that are used come first, the fastest interface first. A name or
// prefix of want that this machine does not have is a Choice too, whose Interface
// has a name only. The error says what there is if nothing is left; without a
// setting it is a fabric.ErrUnsupported.
func Choose(have []Interface, want string, local bool) ([]Choice, error) {
	names, prefixes, err := parseWant(want)
	if err != nil {
		return nil, err
	}
	var out []Choice
	for _, f := range have {
		if len(f.Addrs) == 0 {
			out = append(out, Choice{Interface: f, Why: "it has no address"})
		}
		for _, p := range f.Addrs {
			c := Choice{Interface: f, Addr: p.Addr()}
			c.Used, c.Why = judge(f, p.Addr(), names, prefixes, want != "", local)
			out = append(out, c)
		}
	}
	out = append(out, missing(have, names, prefixes)...)
	slices.SortStableFunc(out, func(a, b Choice) int {
		return cmp.Or(-cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Interface.Speed, b.Interface.Speed))
	})
	if len(out) == 0 || !out[0].Used {
		err := error(unusable(describe(out, want)))
		if want != "" {
			err = errors.New(describe(out, want))
		}
		return out, &fabric.Error{Op: "choose a network interface", Err: err,
			Remedy: "name interfaces or prefixes in " + envInterfaces}
	}
	return out, nil
}

// unusable says why this machine has no address to listen at.
type unusable string

func (e unusable) Error() string      { return string(e) }
func (unusable) Is(target error) bool { return target == fabric.ErrUnsupported }

// rank puts what is used first, and IPv4 before IPv6 of the same speed.
func rank(c Choice) int {
	switch {
	case !c.Used:
		return 0
	case c.Addr.Is4():
		return 2
	}
	return 1
}

// missing are the wanted names and prefixes that nothing of this machine has.
func missing(have []Interface, names []string, prefixes []netip.Prefix) (out []Choice) {
	for _, name := range names {
		if !slices.ContainsFunc(have, func(f Interface) bool { return f.Name == name }) {
			out = append(out, Choice{Interface: Interface{Name: name}, Why: "this machine has no interface of this name"})
		}
	}
	for _, p := range prefixes {
		if !slices.ContainsFunc(have, func(f Interface) bool {
			return slices.ContainsFunc(f.Addrs, func(a netip.Prefix) bool { return p.Contains(a.Addr()) })
		}) {
			out = append(out, Choice{Interface: Interface{Name: p.String()}, Why: "no address of this machine is in this prefix"})
		}
	}
	return out
}

func parseWant(want string) (names []string, prefixes []netip.Prefix, err error) {
	for _, w := range strings.Split(want, ",") {
		w = strings.TrimSpace(w)
		switch {
		case w == "":
		case strings.Contains(w, "/"):
			p, err := netip.ParsePrefix(w)
			if err != nil {
				return nil, nil, &fabric.Error{Op: "read " + envInterfaces, Err: fmt.Errorf("%q is no prefix", w),
					Remedy: "write one as 10.0.0.0/8, or the name of an interface"}
			}
			prefixes = append(prefixes, p.Masked())
		default:
			names = append(names, w)
		}
	}
	return names, prefixes, nil
}

// virtual are beginnings of names that container engines and hypervisors give to
// interfaces which lead to no other host.
var virtual = []string{"docker", "br-", "virbr", "veth", "cni", "flannel", "cali"}

// judge decides on one address.
func judge(f Interface, a netip.Addr, names []string, prefixes []netip.Prefix, named, local bool) (used bool, why string) {
	inPrefix := slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
	switch {
	case named && !slices.Contains(names, f.Name) && !inPrefix:
		return false, "it is not in " + envInterfaces
	case !f.Up:
		return false, "it is down"
	case a.Is6() && a.IsLinkLocalUnicast():
		return false, "a link-local address means something else on each host"
	case named:
		return true, "it is in " + envInterfaces
	case f.Loopback && !local:
		return false, "other hosts can't reach it"
	case f.Loopback:
		return true, "all ranks are on one host"
	case local:
		return false, "all ranks are on one host, which the loopback interface reaches"
	case f.Bridge || slices.ContainsFunc(virtual, func(s string) bool { return strings.HasPrefix(f.Name, s) }):
		return false, "it leads to containers or virtual machines of this host, by its name or kind"
	}
	return true, "it is up"
}

// describe says why nothing is left.
func describe(all []Choice, want string) string {
	if len(all) == 0 {
		return "this machine has no network interface"
	}
	var each []string
	for _, c := range all {
		s := c.Interface.Name
		if c.Addr.IsValid() {
			s += " " + c.Addr.String()
		}
		each = append(each, s+": "+c.Why)
	}
	if want != "" {
		return fmt.Sprintf("nothing matches %q (%s)", want, strings.Join(each, "; "))
	}
	return "none can be used (" + strings.Join(each, "; ") + ")"
}

// choose returns where the rank listens, with the port that the user has set.
func (d *Domain) choose() (doors []door, err error) {
	local := !slices.ContainsFunc(d.cfg.Hosts, func(h uint32) bool { return h != d.cfg.Hosts[0] })
	choices, err := Provider{}.Choices(d.cfg.Options, local)
	if err != nil {
		return nil, err
	}
	for _, c := range choices {
		if c.Used && len(doors) < maxDoors {
			doors = append(doors, door{addr: netip.AddrPortFrom(c.Addr, d.set.port), bits: c.bits(), speed: c.Interface.Speed})
		}
	}
	return doors, nil
}

// bits is how many bits of the address its network has.
func (c Choice) bits() int {
	for _, p := range c.Interface.Addrs {
		if p.Addr() == c.Addr {
			return p.Bits()
		}
	}
	return c.Addr.BitLen()
}
