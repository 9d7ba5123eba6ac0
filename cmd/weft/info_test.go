package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestInfoSaysWhatADeviceHasAndWhyItIsNotUsed(t *testing.T) {
	var out strings.Builder
	device(&out, mpi.Device{
		Name: "mlx5_0", Node: "/dev/infiniband/uverbs0", Firmware: "20.1",
		Ports: []mpi.DevicePort{
			{Number: 1, State: "ACTIVE", LinkLayer: "Ethernet", Rate: "100 Gb/sec", MTU: 4096, Atomics: "device", Chosen: 1,
				GIDs: []mpi.DeviceGID{
					{Index: 0, Address: netip.MustParseAddr("fe80::1"), Type: "IB/RoCE v1", Netdev: "eth0"},
					{Index: 3, Address: netip.MustParseAddr("::ffff:10.0.0.1"), Type: "RoCE v2", Netdev: "eth0"},
				}},
			{Number: 2, State: "DOWN", LinkLayer: "InfiniBand", LID: 7, Chosen: -1, Problem: errors.New("port 2 is DOWN: bring the link up\nor not")},
		},
	})
	device(&out, mpi.Device{Name: "mlx5_1", Problem: errors.New("no permission")})
	const want = `
mlx5_0  /dev/infiniband/uverbs0  firmware 20.1
  port 1  active  Ethernet  100 Gb/sec  MTU 4096  atomics: device
    GID 0   IB/RoCE v1 fe80::1                    eth0
  * GID 3   RoCE v2    10.0.0.1                   eth0
  port 2  down  InfiniBand  LID 7
    not usable: port 2 is DOWN: bring the link up
    or not

mlx5_1
  not usable: no permission
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestInfoSaysOnceWhyATransportIsNotUsable(t *testing.T) {
	var out strings.Builder
	fabrics(&out, []string{"auto", "mem", "verbs", "tcp", "verbs+tcp", "mem+tcp", "mem+gone"}, func(name string) error {
		if strings.Contains(name, "verbs") || strings.Contains(name, "gone") {
			return errors.New("no device\nanywhere")
		}
		return nil
	})
	const want = `  mem       usable
  verbs     not usable: no device
             anywhere
  tcp       usable
  verbs+tcp not usable, for want of verbs
  mem+tcp   usable
  mem+gone  not usable: no device
             anywhere
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestInfoNamesEveryFabric(t *testing.T) {
	var out strings.Builder
	info(&out) // whatever this machine has
	for _, name := range mpi.Fabrics() {
		if name != "auto" && !strings.Contains(out.String(), "  "+name) {
			t.Errorf("%s is not in\n%s", name, out.String())
		}
	}
}
