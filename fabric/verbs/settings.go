package verbs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/weft-mpi/weft/fabric"
)

// The settings, see docs/infiniband.md.
const (
	envDevice     = "WEFT_VERBS_DEV"
	envGID        = "WEFT_VERBS_GID"
	envCache      = "WEFT_VERBS_CACHE"
	envRails      = "WEFT_VERBS_RAILS"
	envRendezvous = "WEFT_VERBS_RNDV"
	envLevel      = "WEFT_VERBS_SL"
	envClass      = "WEFT_VERBS_TC"
)

// settings are what the user has set, but for the ports, which pickAll finds.
type settings struct {
	queues int // pairs of a connection on each port
	marks  marks
	writes bool // large messages are written by their sender
	cache  bool // registrations are kept
}

// readSettings checks all settings, the names of ports too: a wrong one is an error
// that names it, also where there is no device.
func readSettings(getenv func(name string) string) (s settings, err error) {
	check := func(name string, parse func() error) {
		if e := parse(); e != nil && err == nil {
			err = &fabric.Error{Op: "read " + name, Err: e, Remedy: "correct or unset it (docs/infiniband.md)"}
		}
	}
	check(envDevice, func() (err error) {
		for v := range strings.SplitSeq(getenv(envDevice), ",") {
			if _, _, e := parsePort(v); e != nil {
				err = e
			}
		}
		return err
	})
	check(envGID, func() (err error) {
		for v := range strings.SplitSeq(getenv(envGID), ",") {
			if _, e := parseIndex(v); e != nil {
				err = e
			}
		}
		return err
	})
	check(envCache, func() (err error) { s.cache, err = cacheWanted(getenv); return err })
	check(envRails, func() (err error) { s.queues, err = railsWanted(getenv); return err })
	check(envRendezvous, func() (err error) { s.writes, err = writesWanted(getenv); return err })
	check(envLevel, func() (err error) { s.marks.level, err = markWanted(getenv, envLevel, 15); return err })
	check(envClass, func() (err error) { s.marks.class, err = markWanted(getenv, envClass, 255); return err })
	return s, err
}

// Check returns an error about an option that can't be used, or nil. Whether this
// machine has the devices is not looked at. Local.
func (Provider) Check(options map[string]string) error {
	_, err := readSettings(func(name string) string { return options[name] })
	return err
}

// parsePort takes DEVICE or DEVICE:PORT apart; the port is 0 if there is none.
func parsePort(s string) (device string, port int, err error) {
	device, number, named := strings.Cut(s, ":")
	if named {
		port, err = strconv.Atoi(number)
	}
	if err != nil || named && port < 1 || strings.ContainsFunc(device, func(r rune) bool { return !unicode.IsGraphic(r) || r == ' ' || r == '/' }) {
		return "", 0, fmt.Errorf("%s=%s: write DEVICE or DEVICE:PORT", envDevice, s)
	}
	return device, port, nil
}

// parseIndex is the index of a GID, -1 if none is given.
func parseIndex(s string) (int, error) {
	if s == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return -1, fmt.Errorf("%s=%s is not an index of a GID", envGID, s)
	}
	return n, nil
}

// cacheWanted says whether registrations are kept for later operations.
func cacheWanted(getenv func(string) string) (bool, error) {
	switch v := getenv(envCache); v {
	case "", "1":
		return true, nil
	case "0":
		return false, nil
	default:
		return false, fmt.Errorf("%s=%s: write 0 or 1", envCache, v)
	}
}

// railsWanted is how many queue pairs a connection has on each port.
func railsWanted(getenv func(string) string) (int, error) {
	v := getenv(envRails)
	if v == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxRails {
		return 0, fmt.Errorf("%s=%s: write how many queue pairs a connection has on each port, 1 to %d", envRails, v, maxRails)
	}
	return n, nil
}

// writesWanted says whether large messages are written by their sender, and not
// read by their receiver.
func writesWanted(getenv func(string) string) (bool, error) {
	switch v := getenv(envRendezvous); v {
	case "", "read":
		return false, nil
	case "write":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%s: write read or write", envRendezvous, v)
	}
}

// marks are how packets are marked for the switches: service level (InfiniBand,
// and the priority of RoCE v1) and traffic class (the DSCP and ECN bits of RoCE
// v2).
type marks struct{ level, class int }

// markWanted is the value of a mark, 0 to most.
func markWanted(getenv func(string) string, name string, most int) (int, error) {
	s := getenv(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 0, 16)
	if err != nil || n < 0 || int(n) > most {
		return 0, fmt.Errorf("%s=%s is not a number from 0 to %d", name, s, most)
	}
	return int(n), nil
}
