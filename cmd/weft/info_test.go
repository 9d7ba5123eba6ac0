package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

func TestInfoSaysWhatADeviceHasAndWhyItIsNotUsed(t *testing.T) {
	var out strings.Builder
	ask := func(p *mpi.DevicePort, device string) (mpi.DeviceRendezvous, error) {
		return mpi.DeviceRendezvous{ReadTime: 90 * time.Microsecond, WriteTime: 123456 * time.Nanosecond, PostTime: 2 * time.Microsecond}, nil
	}
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
	}, ask)
	device(&out, mpi.Device{Name: "mlx5_1", Problem: errors.New("no permission")}, ask)
	const want = `
mlx5_0  /dev/infiniband/uverbs0  firmware 20.1
  port 1  active  Ethernet  100 Gb/sec  MTU 4096  atomics: device
    large messages: read by the receiver (1 MB measured: 90µs to read, 123µs to register and write, 2µs of it to post)
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

func TestInfoSaysHowLargeMessagesMove(t *testing.T) {
	for want, r := range map[string]mpi.DeviceRendezvous{
		"read by the receiver (WEFT_VERBS_RNDV)":                                    {Forced: true},
		"written by the sender (WEFT_VERBS_RNDV)":                                   {Forced: true, Write: true},
		"read by the receiver and written by the sender in turns (WEFT_VERBS_RNDV)": {Forced: true, Both: true},
	} {
		if got := rendezvous(r, nil); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
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
