package main

import (
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestInfoSaysWhichAddressesTCPUsesAndWhyNotOthers(t *testing.T) {
	list := []mpi.NetAddress{
		{Interface: mpi.NetInterface{Name: "eth1", Speed: 25000, MTU: 9000}, Addr: netip.MustParseAddr("10.1.0.5"), Used: true, Why: "it is up"},
		{Interface: mpi.NetInterface{Name: "eth0", Speed: 2500, MTU: 1500}, Addr: netip.MustParseAddr("2001:db8::5"), Used: true, Why: "it is up"},
		{Interface: mpi.NetInterface{Name: "eth2", Speed: 100, MTU: 1500}, Addr: netip.MustParseAddr("10.2.0.5"), Why: "it is down"},
		{Interface: mpi.NetInterface{Name: "tun0", MTU: 1400}, Why: "it has no address"},
		{Interface: mpi.NetInterface{Name: "ib0"}, Why: "no such interface"},
	}
	for _, c := range []struct {
		list []mpi.NetAddress
		err  error
		code int
		want string
	}{
		{list, nil, 0, `
tcp, here
  eth1  10.1.0.5     25 Gb/s   MTU 9000  used: it is up
  eth0  2001:db8::5  2.5 Gb/s  MTU 1500  used: it is up
  eth2  10.2.0.5     100 Mb/s  MTU 1500  not used: it is down
  tun0                         MTU 1400  not used: it has no address
  ib0                                    not used: no such interface
`},
		{list[4:], errors.New("nothing matches"), 0, `
tcp, here
  ib0        not used: no such interface
  not usable: no address is left
`},
		{nil, errors.New("no prefix\nat all"), 1, `
tcp, here
  not usable: no prefix
  at all
`},
	} {
		var out strings.Builder
		if code := addresses(&out, "here", c.list, c.err); code != c.code || out.String() != c.want {
			t.Errorf("%d, got\n%s\nwant %d,\n%s", code, out.String(), c.code, c.want)
		}
	}
}

// On any machine ranks of one host meet over the loopback interface.
func TestInfoObeysWEFT_TCP_IF(t *testing.T) {
	here := func() string {
		var out strings.Builder
		info(&out)
		return out.String()
	}
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var lo string
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 {
			lo = i.Name
		}
	}
	for setting, want := range map[string]string{
		"":             `tcp, all ranks on one host\n  ` + lo + ` .*  used: all ranks are on one host\n`,
		lo + ",weft99": `(?s)tcp, ranks on several hosts\n  ` + lo + ` [^\n]*  used: it is in WEFT_TCP_IF\n.*  weft99 +not used: this machine has no interface of this name\n`,
		"weft99":       `  weft99 +not used: this machine has no interface of this name\n(.*\n)*  not usable: no address is left\n`,
		"10.0.0/8":     `(?s)one host\n  not usable: .*several hosts\n  not usable: .*"10.0.0/8" is no prefix`,
	} {
		t.Setenv("WEFT_TCP_IF", setting)
		if out := here(); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("with WEFT_TCP_IF=%q:\n%s\nwant a match of %s", setting, out, want)
		}
	}
}
