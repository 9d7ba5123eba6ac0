package tcp

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// The settings, by the names in Config.Options.
const (
	envInterfaces = "WEFT_TCP_IF"
	envDeadline   = "WEFT_TCP_DEADLINE"
	envPort       = "WEFT_TCP_PORT"
	envTLS        = "WEFT_TCP_TLS"
)

// settings are the user's.
type settings struct {
	deadline  time.Duration // 0: never
	closeTime time.Duration // how long Close waits for a peer that takes nothing: deadline, less in tests
	askTime   time.Duration // the constant, more in tests
	lostTime  time.Duration // the constant, less in tests
	dial      time.Duration // how long to try to reach a peer: deadline, less in tests
	port      uint16        // of all ranks of a host, 0: each has its own
	tls       bool          // connections are encrypted
}

// defaultDeadline is how long a peer may be silent. A processor that is busy with
// others, or a debugger, holds a peer up for less.
const defaultDeadline = 20 * time.Second

// leastDeadline is the shortest that can be set: a rank whose progress thread
// waits for a processor answers no sooner.
const leastDeadline = time.Second

// forever is longer than any job.
const forever = time.Duration(math.MaxInt64)

// Check returns an error about an option that can't be used, or nil. Whether this
// machine has the interfaces is not looked at. Local.
func (Provider) Check(options map[string]string) error {
	if _, err := readSettings(options); err != nil {
		return err
	}
	_, _, err := parseWant(options[envInterfaces])
	return err
}

func readSettings(options map[string]string) (s settings, err error) {
	s.deadline, s.askTime, s.lostTime = defaultDeadline, askTime, lostTime
	if v := options[envDeadline]; v != "" {
		s.deadline, err = time.ParseDuration(v)
		if v == "0" {
			s.deadline, err = 0, nil
		}
		if err != nil || s.deadline < leastDeadline && s.deadline != 0 {
			return s, &fabric.Error{Op: "read " + envDeadline, Err: fmt.Errorf("%q is no time that a peer may be silent", v),
				Remedy: fmt.Sprintf("give one of %v or more, such as 20s, or 0 for no limit", leastDeadline)}
		}
	}
	if s.dial = s.deadline; s.dial == 0 {
		s.dial = forever
	}
	s.closeTime = s.dial
	if v := options[envPort]; v != "" {
		n, err := strconv.ParseUint(v, 10, 16)
		if err != nil || n == 0 {
			return s, &fabric.Error{Op: "read " + envPort, Err: fmt.Errorf("%q is no port", v),
				Remedy: "give one from 1 to 65535, which all ranks of a host then share"}
		}
		s.port = uint16(n)
	}
	switch v := options[envTLS]; v {
	case "", "0":
	case "1":
		s.tls = true
	default:
		return s, &fabric.Error{Op: "read " + envTLS, Err: fmt.Errorf("%q is neither 1 nor 0", v),
			Remedy: "give 1 to have connections encrypted, alike for all ranks"}
	}
	return s, nil
}
