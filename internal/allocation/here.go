package allocation

import (
	"os"
	"strings"
)

// Here reports whether a host is this one by its name: then no login is needed. An
// address of this host, other than those of the loopback interface, is logged in to.
func Here(host string) bool {
	switch host {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	own, err := os.Hostname()
	if err != nil {
		return false
	}
	short, _, _ := strings.Cut(own, ".")
	return host == own || host == short
}
