package tcp

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func TestTheChoiceOfInterfaces(t *testing.T) {
	have := []Interface{
		{Name: "lo", Up: true, Loopback: true, MTU: 65536, Addrs: prefixes("127.0.0.1/8", "::1/128")},
		{Name: "eth0", Up: true, Speed: 1000, MTU: 1500, Addrs: prefixes("192.168.1.5/24", "fe80::1/64", "2001:db8::5/64")},
		{Name: "eth1", Up: true, Speed: 25000, MTU: 9000, Addrs: prefixes("10.1.0.5/16")},
		{Name: "eth2", Speed: 100000, MTU: 9000, Addrs: prefixes("10.2.0.5/16")},
		{Name: "docker0", Up: true, Bridge: true, MTU: 1500, Addrs: prefixes("172.17.0.1/16")},
		{Name: "br7", Up: true, Bridge: true, MTU: 1500, Addrs: prefixes("172.18.0.1/16")},
		{Name: "tun0", Up: true, MTU: 1400},
	}
	for _, c := range []struct {
		name, want string
		local      bool
		used       string // in order
		why        map[string]string
	}{
		{"between hosts", "", false, "10.1.0.5 192.168.1.5 2001:db8::5", map[string]string{
			"eth2": "down", "docker0": "containers", "br7": "containers", "tun0": "no address", "lo": "other hosts", "fe80::1": "link-local"}},
		{"on one host", "", true, "127.0.0.1 ::1", map[string]string{"eth0": "loopback interface"}},
		{"by name", "docker0", false, "172.17.0.1", map[string]string{"eth1": "not in WEFT_TCP_IF"}},
		{"by names", "eth0, eth1", false, "10.1.0.5 192.168.1.5 2001:db8::5", map[string]string{"fe80::1": "link-local"}},
		{"by prefix", "192.168.0.0/16", false, "192.168.1.5", nil},
		{"by prefix and name", "10.0.0.0/8,lo", false, "10.1.0.5 127.0.0.1 ::1", map[string]string{"eth2": "down"}},
		{"one that is down", "eth2", false, "", map[string]string{"eth2": "down"}},
		{"one that is not there", "ib0", false, "", map[string]string{"eth0": "not in WEFT_TCP_IF", "ib0": "no interface of this name"}},
		{"one that is there and one that is not", "ib0,eth1", false, "10.1.0.5", map[string]string{"ib0": "no interface of this name"}},
		{"a prefix that nothing is in", "eth1,10.9.0.0/16", false, "10.1.0.5", map[string]string{"10.9.0.0/16": "no address"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			choices, err := Choose(have, c.want, c.local)
			var used []string
			for _, x := range choices {
				if x.Used {
					used = append(used, x.Addr.String())
				}
			}
			if got := strings.Join(used, " "); got != c.used || (err != nil) != (c.used == "") {
				t.Errorf("used are %q, want %q; %v", got, c.used, err)
			}
			if err != nil && errors.Is(err, fabric.ErrUnsupported) {
				t.Errorf("a setting that nothing matches passes for a machine without the transport: %v", err)
			}
			for who, why := range c.why {
				i := slices.IndexFunc(choices, func(x Choice) bool { return !x.Used && (x.Interface.Name == who || x.Addr.String() == who) })
				if i < 0 || !strings.Contains(choices[i].Why, why) {
					t.Errorf("%s is used, or not because of %q", who, why)
				}
				if err != nil && !strings.Contains(err.Error(), why) {
					t.Errorf("the error does not say %q: %v", why, err)
				}
			}
		})
	}
	if _, err := Choose(have, "10.0.0/8", false); err == nil || !strings.Contains(err.Error(), "10.0.0/8") {
		t.Errorf("a bad prefix: %v", err)
	}
	for what, have := range map[string][]Interface{"no interface at all": nil, "only the loopback interface": have[:1]} {
		if _, err := Choose(have, "", false); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheInterfacesOfThisMachine(t *testing.T) {
	have, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(have, func(f Interface) bool { return f.Loopback })
	if i < 0 || !have[i].Up || len(have[i].Addrs) == 0 || !have[i].Addrs[0].Addr().IsLoopback() {
		t.Errorf("the loopback interface is missing or has no address: %+v", have)
	}
}

// Ranks of one host need no list of interfaces, which a filter may refuse; ranks of several do.
func TestOneHostNeedsNoListOfInterfaces(t *testing.T) {
	old := interfaces
	defer func() { interfaces = old }()
	interfaces = func() ([]Interface, error) { return nil, unix.EPERM }
	got, err := Provider{}.Choices(nil, true)
	if err != nil || len(got) != 1 || !got[0].Used || got[0].Addr != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("one host: %+v, %v", got, err)
	}
	for what, options := range map[string]map[string]string{"several hosts": nil, "a named interface": {envInterfaces: "eth0"}} {
		var e *fabric.Error
		if _, err := (Provider{}).Choices(options, options != nil); !errors.As(err, &e) || !strings.Contains(e.Remedy, "AF_NETLINK") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
