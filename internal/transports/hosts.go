package transports

import (
	"cmp"
	"fmt"
	"os"
)

// hostName is the name of this machine, which other machines may have too.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// hostNames gives hosts names that differ, in the order of their lowest ranks: all
// ranks give the same. A host is what launch says, divided by WEFT_NODE.
type hostNames struct {
	of    map[host]string
	taken map[string]bool
}

type host struct {
	number uint32
	node   string
}

// name is the name of the host of a rank: that of WEFT_NODE, or the machine's, with a
// number from 2 on where another host has it.
func (h *hostNames) name(number uint32, c card) string {
	if h.of == nil {
		h.of, h.taken = map[host]string{}, map[string]bool{}
	}
	key := host{number, c.Node}
	if name, known := h.of[key]; known {
		return name
	}
	base := cmp.Or(c.Node, c.Host)
	name := base
	for n := 2; h.taken[name]; n++ {
		name = fmt.Sprintf("%s~%d", base, n)
	}
	h.of[key], h.taken[name] = name, true
	return name
}
