package verbs

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Device is an RDMA device of this machine. It is a plain value.
type Device struct {
	Name     string // "mlx5_0", "rxe0"
	Node     string // its character device, "/dev/infiniband/uverbs0"; empty if it has none
	Firmware string
	Ports    []Port
	// Problem says why the device can't be opened and what to do, or nil.
	Problem error
}

// Port is a port of a Device.
type Port struct {
	Number    int
	State     string // "ACTIVE", "DOWN"
	LinkLayer string // "InfiniBand", "Ethernet"
	Rate      string // as the kernel says it: "100 Gb/sec (4X EDR)"
	LID       uint16
	MTU       int    // bytes of payload in a packet; 0 if the device could not be opened
	Atomics   string // "none", "device", "processor"; empty if it could not be opened
	GIDs      []GID
	// Chosen is the index in GIDs of the address Weft uses, -1 if none.
	Chosen int
	// Problem says why the port can't be used and what to do, or nil.
	Problem error

	attr ibv.Attr
}

// GID is an address of a port.
type GID struct {
	Index   int
	Address netip.Addr
	Type    string // "IB/RoCE v1", "RoCE v2"
	Netdev  string // the network interface behind it, if any
}

const roceV2 = "RoCE v2"

// Devices lists the RDMA devices of this machine, usable or not.
func Devices() ([]Device, error) {
	ds := listDevices(sysClass{os.DirFS("/sys/class")})
	if err := ibv.Load(); err != nil {
		for i := range ds {
			ds[i].Problem = cmp.Or(ds[i].Problem, noLibrary(err))
		}
		if len(ds) > 0 {
			return ds, nil
		}
		return nil, noLibrary(err)
	}
	for i := range ds {
		ds[i].ask()
	}
	return ds, nil
}

// ask opens the device for what only the library knows.
func (d *Device) ask() {
	for i := range d.Ports {
		if d.Problem != nil {
			return
		}
		p := &d.Ports[i]
		a, err := ibv.Query(d.Name, p.Number)
		if err != nil {
			d.Problem = fmt.Errorf("open the device: %w", err)
			return
		}
		p.attr = a
		if a.MTU > 0 {
			p.MTU = 128 << a.MTU
		}
		p.Atomics = "none"
		if a.Atomics {
			p.Atomics = "device"
		}
		if a.GlobalAtomics {
			p.Atomics = "processor"
		}
		d.Firmware = cmp.Or(d.Firmware, a.Firmware)
	}
}

// listDevices reads what the kernel says of its devices below /sys/class.
func listDevices(class fs.FS) (ds []Device) {
	entries, _ := fs.ReadDir(class, "infiniband")
	nodes := characterDevices(class)
	for _, e := range entries {
		d := Device{Name: e.Name(), Node: nodes[e.Name()]}
		d.Firmware = text(class, "infiniband", d.Name, "fw_ver")
		ports, _ := fs.ReadDir(class, "infiniband/"+d.Name+"/ports")
		for _, pe := range ports {
			if n, err := strconv.Atoi(pe.Name()); err == nil {
				d.Ports = append(d.Ports, listPort(class, d.Name, n))
			}
		}
		sort.Slice(d.Ports, func(i, j int) bool { return d.Ports[i].Number < d.Ports[j].Number })
		d.Problem = d.access()
		ds = append(ds, d)
	}
	return ds
}

// characterDevices says by which file of /dev each device is opened.
func characterDevices(class fs.FS) map[string]string {
	nodes := map[string]string{}
	entries, _ := fs.ReadDir(class, "infiniband_verbs")
	for _, e := range entries {
		if name := text(class, "infiniband_verbs", e.Name(), "ibdev"); name != "" {
			nodes[name] = "/dev/infiniband/" + e.Name()
		}
	}
	return nodes
}

var access = unix.Access // so that tests can refuse

func (d *Device) access() error {
	if d.Node == "" {
		return errors.New("it has no uverbs device: load the kernel module ib_uverbs (modprobe ib_uverbs)")
	}
	switch err := access(d.Node, unix.R_OK|unix.W_OK); {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%s does not exist: load the kernel module ib_uverbs; in a container, pass the device in (--device=%s)", d.Node, d.Node)
	default:
		return fmt.Errorf("no permission to open %s (%w): make it readable and writable for this user (rdma-core's udev rule gives it mode 0666), or pass it into the container", d.Node, err)
	}
}

func listPort(class fs.FS, dev string, n int) Port {
	dir := []string{"infiniband", dev, "ports", strconv.Itoa(n)}
	get := func(parts ...string) string { return text(class, append(dir[:4:4], parts...)...) }
	p := Port{Number: n, LinkLayer: get("link_layer"), Rate: get("rate"), Chosen: -1}
	_, p.State, _ = strings.Cut(get("state"), ": ")
	if lid, err := strconv.ParseUint(get("lid"), 0, 16); err == nil {
		p.LID = uint16(lid)
	}
	// The kernel fills the lowest free entry, and a table may have a thousand.
	for i, empty := 0, 0; empty < 64; i++ {
		n := strconv.Itoa(i)
		a, ok := parseGID(get("gids", n))
		if !ok {
			empty++
			continue
		}
		empty = 0
		p.GIDs = append(p.GIDs, GID{Index: i, Address: a, Type: get("gid_attrs", "types", n), Netdev: get("gid_attrs", "ndevs", n)})
	}
	p.Chosen, p.Problem = p.choose(-1)
	return p
}

// sysClass is /sys/class. A listing reads some hundred files: ReadFile leaves
// out what os does besides, which takes longer than the reading.
type sysClass struct{ fs.FS }

func (sysClass) ReadFile(name string) ([]byte, error) {
	fd, err := unix.Open("/sys/class/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	b := make([]byte, 4096) // an attribute is a page at most
	n, err := unix.Read(fd, b)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b[:n], nil
}

// ethernet says whether the port is RoCE.
func (p *Port) ethernet() bool { return p.LinkLayer == "Ethernet" }

// parseGID reads an address as the kernel writes it, false for an empty entry.
func parseGID(s string) (netip.Addr, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	if err != nil || len(b) != 16 {
		return netip.Addr{}, false
	}
	a := netip.AddrFrom16([16]byte(b))
	// An unset entry is zero behind the prefix, if that.
	if a.IsUnspecified() || s == "fe80:0000:0000:0000:0000:0000:0000:0000" {
		return netip.Addr{}, false
	}
	return a, true
}

// text reads a file of sysfs, empty where there is none.
func text(class fs.FS, parts ...string) string {
	b, err := fs.ReadFile(class, strings.Join(parts, "/"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
