package verbs

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

func noLibrary(err error) error {
	return &fabric.Error{Op: "load libibverbs", Err: err,
		Remedy: "install it (Debian: libibverbs1 and ibverbs-providers), and build Weft with cgo and its headers (libibverbs-dev)"}
}

// choose picks the GID that packets of the port carry, by its index in the
// port's table if that is not negative, and says why the port can't be used.
func (p *Port) choose(index int) (int, error) {
	if p.State != "ACTIVE" {
		return -1, fmt.Errorf("port %d is %s: bring the link up (ip link set DEV up, the cable, the subnet manager)", p.Number, orUnknown(p.State))
	}
	best, rank := -1, 0
	for i, g := range p.GIDs {
		r := 1
		switch {
		case index >= 0:
			if g.Index != index {
				continue
			}
		case !p.ethernet():
		case g.Type != roceV2:
			continue // RoCE v1 is not routed, and many fabrics drop it
		case g.Address.Is4In6():
			r = 4
		case !g.Address.IsLinkLocalUnicast():
			r = 3
		default:
			r = 2
		}
		if r > rank {
			best, rank = i, r
		}
	}
	switch {
	case best >= 0:
		return best, nil
	case index >= 0:
		return -1, fmt.Errorf("port %d has no GID of index %d; see weft info for those it has, and %s", p.Number, index, envGID)
	case p.ethernet():
		return -1, fmt.Errorf("port %d has no RoCE v2 GID: give its network interface an IP address (ip addr add)", p.Number)
	}
	return -1, fmt.Errorf("port %d has no GID", p.Number)
}

func orUnknown(s string) string {
	if s == "" {
		return "in an unknown state"
	}
	return s
}

// selection is a port to use and its GID.
type selection struct {
	dev  Device
	port Port
}

func (s *selection) gid() GID { return s.port.GIDs[s.port.Chosen] }

// pick finds the port to use: the one that the environment names, else the
// first usable.
func pick(ds []Device, getenv func(string) string) (selection, error) {
	device, port, err := parsePort(getenv(envDevice))
	if err != nil {
		return selection{}, err
	}
	index, err := parseIndex(getenv(envGID))
	if err != nil {
		return selection{}, err
	}
	var why []error
	for _, d := range ds {
		if device != "" && d.Name != device {
			continue
		}
		if d.Problem != nil {
			why = append(why, fmt.Errorf("%s: %w", d.Name, d.Problem))
			continue
		}
		for _, p := range d.Ports {
			if port != 0 && p.Number != port {
				continue
			}
			if index >= 0 {
				p.Chosen, p.Problem = p.choose(index)
			}
			if p.Problem == nil {
				return selection{d, p}, nil
			}
			why = append(why, fmt.Errorf("%s: %w", d.Name, p.Problem))
		}
	}
	switch {
	case len(why) > 0:
		return selection{}, errors.Join(why...)
	case len(ds) == 0:
		return selection{}, errors.New("no RDMA device (/sys/class/infiniband is empty): load the adapter's driver; for SoftRoCE, modprobe rdma_rxe and rdma link add rxe0 type rxe netdev DEV")
	}
	return selection{}, fmt.Errorf("%s=%s: there is no such device or port; there are %s", envDevice, getenv(envDevice), names(ds))
}

func names(ds []Device) string {
	var s []string
	for _, d := range ds {
		s = append(s, d.Name)
	}
	return strings.Join(s, ", ")
}

// pickAll finds the ports to use: those that the environment lists, or one.
func pickAll(ds []Device, getenv func(string) string) (ss []selection, err error) {
	devices, gids := strings.Split(getenv(envDevice), ","), strings.Split(getenv(envGID), ",")
	if len(devices) > maxPorts {
		return nil, fmt.Errorf("%s=%s: %d ports, and a rank uses at most %d", envDevice, getenv(envDevice), len(devices), maxPorts)
	}
	if len(gids) != 1 && len(gids) != len(devices) {
		return nil, fmt.Errorf("%s=%s: list one index, or one for each port of %s", envGID, getenv(envGID), envDevice)
	}
	for i, dev := range devices {
		if dev == "" && len(devices) > 1 {
			return nil, fmt.Errorf("%s=%s: an entry is empty", envDevice, getenv(envDevice))
		}
		s, err := pick(ds, func(name string) string {
			switch name {
			case envDevice:
				return dev
			case envGID:
				return gids[i%len(gids)]
			}
			return ""
		})
		if err != nil {
			return nil, err
		}
		ss = append(ss, s)
	}
	return ss, nil
}

// find lists the devices and picks the ports that the settings name.
func find(setting func(name string) string) ([]selection, error) {
	ds, err := Devices()
	if err != nil {
		return nil, err
	}
	return pickAll(ds, setting)
}

// explain adds the remedy to what the library answers when a port is opened.
func explain(err error) error {
	e := &fabric.Error{Op: "open the device", Err: err}
	switch {
	case errors.Is(err, unix.ENOMEM):
		e.Remedy = pin.Remedy
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		e.Remedy = "make /dev/infiniband readable and writable for this user"
	default:
		return err
	}
	return e
}
