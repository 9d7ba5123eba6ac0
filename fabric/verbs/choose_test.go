package verbs

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// sysfs is a machine with a RoCE device, an InfiniBand device, and one without
// a driver.
func sysfs() fstest.MapFS {
	fs := fstest.MapFS{}
	put := func(name, text string) { fs[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	put("infiniband_verbs/uverbs0/ibdev", "rxe0")
	put("infiniband_verbs/uverbs1/ibdev", "mlx5_0")
	put("infiniband/dead0/fw_ver", "1.2")
	put("infiniband/dead0/ports/1/state", "4: ACTIVE")
	for port, state := range map[string]string{"1": "1: DOWN", "2": "4: ACTIVE"} {
		p := "infiniband/rxe0/ports/" + port + "/"
		put(p+"state", state)
		put(p+"link_layer", "Ethernet")
		put(p+"rate", "100 Gb/sec (4X EDR)")
		for i, g := range []struct{ gid, kind string }{
			{"fe80:0000:0000:0000:506b:4bff:fe00:0001", "IB/RoCE v1"},
			{"fe80:0000:0000:0000:506b:4bff:fe00:0001", roceV2},
			{"0000:0000:0000:0000:0000:ffff:0a4d:0001", "IB/RoCE v1"},
			{"0000:0000:0000:0000:0000:ffff:0a4d:0001", roceV2},
			{"2001:0db8:0000:0000:0000:0000:0000:0001", roceV2},
			{"0000:0000:0000:0000:0000:0000:0000:0000", ""},
		} {
			n := string(rune('0' + i))
			put(p+"gids/"+n, g.gid)
			put(p+"gid_attrs/types/"+n, g.kind)
			put(p+"gid_attrs/ndevs/"+n, "eth0")
		}
	}
	p := "infiniband/mlx5_0/ports/1/"
	put(p+"state", "4: ACTIVE")
	put(p+"link_layer", "InfiniBand")
	put(p+"lid", "0x11")
	put(p+"gids/0", "fe80:0000:0000:0000:506b:4b03:0000:0002")
	put(p+"gid_attrs/types/0", "IB/RoCE v1")
	return fs
}

func allowAll(t *testing.T) {
	was := access
	access = func(string, uint32) error { return nil }
	t.Cleanup(func() { access = was })
}

func TestThePortIsChosen(t *testing.T) {
	allowAll(t)
	for _, c := range []struct {
		dev, gid string
		want     string // device:port/GID, or part of the error
		fails    bool
	}{
		{"", "", "mlx5_0:1/0", false},
		{"rxe0", "", "rxe0:2/3", false}, // the IPv4 address, as RoCE v2
		{"rxe0:2", "4", "rxe0:2/4", false},
		{"rxe0", "0", "rxe0:2/0", false}, // RoCE v1 if one insists
		{"rxe0", "9", "no GID of index 9", true},
		{"rxe0:1", "", "port 1 is DOWN", true},
		{"rxe0:3", "", "there is no such device or port", true},
		{"nosuch", "", "there are dead0, mlx5_0, rxe0", true},
		{"dead0", "", "modprobe ib_uverbs", true},
		{"rxe0:x", "", "write DEVICE or DEVICE:PORT", true},
		{"rxe0", "minus", "not an index", true},
	} {
		s, err := pick(listDevices(sysfs()), func(name string) string { return map[string]string{envDevice: c.dev, envGID: c.gid}[name] })
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = s.dev.Name + ":" + string(rune('0'+s.port.Number)) + "/" + string(rune('0'+s.gid().Index))
		}
		if (err != nil) != c.fails || !strings.Contains(got, c.want) {
			t.Errorf("%s=%q %s=%q: got %q, want %q", envDevice, c.dev, envGID, c.gid, got, c.want)
		}
	}
	if _, err := pick(nil, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "rdma link add") {
		t.Errorf("without devices: %v", err)
	}
}

func TestWhatKeepsADeviceFromUseIsSaid(t *testing.T) {
	allowAll(t)
	fs := sysfs()
	for _, n := range []string{"1", "3", "4"} {
		delete(fs, "infiniband/rxe0/ports/2/gids/"+n)
	}
	for _, d := range listDevices(fs) {
		if d.Name == "rxe0" {
			if p := d.Ports[1]; p.Problem == nil || !strings.Contains(p.Problem.Error(), "no RoCE v2 GID") {
				t.Errorf("a port without RoCE v2: %v", p.Problem)
			}
		}
	}
	for errno, want := range map[error]string{unix.EACCES: "no permission to open /dev/infiniband/uverbs0", unix.ENOENT: "--device"} {
		access = func(string, uint32) error { return errno }
		d := listDevices(fs)[2]
		if d.Problem == nil || !strings.Contains(d.Problem.Error(), want) {
			t.Errorf("%v: %v, want %q", errno, d.Problem, want)
		}
	}
}

func TestSlotsAreSharedOut(t *testing.T) {
	for _, c := range []struct{ ranks, maxSRQ, window, slots int }{
		{1, 0, 128, 160}, {2, 0, 128, 160}, {9, 0, 128, 1056}, {65, 0, 16, 1056}, {513, 0, 2, 1056},
		{1025, 0, 2, 2080}, {1025, 512, 1, 512}, {3, 100, 50, 100},
	} {
		if got := sizesFor(c.ranks, c.maxSRQ); got != (sizes{c.window, c.slots}) {
			t.Errorf("%d ranks, device's limit %d: %+v, want %d messages a peer of %d slots", c.ranks, c.maxSRQ, got, c.window, c.slots)
		}
	}
}

func TestTheEnvironmentChoosesTheRendezvous(t *testing.T) {
	for v, want := range map[string]bool{"": false, "read": false, "write": true} {
		if got, err := writesWanted(func(string) string { return v }); err != nil || got != want {
			t.Errorf("%s=%s: %t, %v", envRendezvous, v, got, err)
		}
	}
	for _, v := range []string{"both", "Write"} {
		if _, err := writesWanted(func(string) string { return v }); err == nil || !strings.Contains(err.Error(), envRendezvous) {
			t.Errorf("%s=%s: %v", envRendezvous, v, err)
		}
	}
}

// The choice of the environment is the domain's.
func TestADomainTellsHowLargeMessagesMove(t *testing.T) {
	needDevice(t)
	for v, want := range map[string]bool{"read": false, "write": true} {
		t.Setenv(envRendezvous, v)
		j := &job{open: openDevice}
		j.domains(t, 2)
		if got := j.ranks[0].Caps().PutFirst; got != want {
			t.Errorf("%s=%s: PutFirst is %t", envRendezvous, v, got)
		}
	}
}
