package main

import (
	"fmt"
	"strings"
)

// variable is an environment variable that a user may set.
type variable struct{ name, values, what string }

// settable are the variables that Weft reads.
var settable = []variable{
	{"WEFT_FABRIC", "NAME", "the transports where the program does not choose: shm, tcp, verbs, shm+tcp and so on"},
	{"WEFT_BOOT", "none", "be a world of one, whatever launcher there is; weft run does not pass it on"},
	{"WEFT_CHECK", "coll", "ranks compare every collective call before it begins"},
	{"WEFT_NODE", "NAME", "ranks of one machine with other names take each other for remote (shm+tcp)"},
	{"WEFT_SHM_GET_MIN", "BYTES", "messages from this length on are read from their sender's memory (measured)"},
	{"WEFT_TCP_IF", "NAME|PREFIX,...", "the network interfaces to use: eth0, or those with an address in 10.0.0.0/8"},
	{"WEFT_TCP_PORT", "N", "one port for all ranks of a host, for a firewall that opens one"},
	{"WEFT_TCP_TLS", "1", "connections between ranks are encrypted, with TLS 1.3"},
	{"WEFT_TCP_DEADLINE", "DURATION", "how long a rank may be silent: 20s, or from 1s up; 0 for no limit"},
	{"WEFT_VERBS_DEV", "DEVICE[:PORT],...", "the RDMA devices and ports to use, four at most"},
	{"WEFT_VERBS_GID", "INDEX,...", "the GID that packets carry, one for all ports or one for each"},
	{"WEFT_VERBS_RAILS", "N", "queue pairs to a peer on each port, 16 in all at most"},
	{"WEFT_VERBS_RNDV", "read|write", "large messages are read by their receiver (the default) or written by their sender"},
	{"WEFT_VERBS_SL", "0-15", "the service level of packets (InfiniBand)"},
	{"WEFT_VERBS_TC", "0-255", "the traffic class of packets (RoCE)"},
	{"WEFT_VERBS_CACHE", "0", "keep no memory registered after a transfer"},
}

// given are the variables that weft run sets for a rank.
var given = []variable{
	{"WEFT_RANK", "", "the rank"},
	{"WEFT_SIZE", "", "the number of ranks"},
	{"WEFT_FD", "", "the descriptor of the launcher's socket"},
}

// variables is the part of the help about the environment.
func variables() string {
	var b strings.Builder
	list := func(title string, vs []variable) {
		b.WriteString(title)
		for _, v := range vs {
			name := v.name
			if v.values != "" {
				name += "=" + v.values
			}
			fmt.Fprintf(&b, "  %-33s %s\n", name, v.what)
		}
	}
	list("Environment variables, the same for all ranks:\n", settable)
	list("Set for each rank:\n", given)
	b.WriteString("A rank that computes in Go gets two processors (GOMAXPROCS) more, for its progress\nthread, unless GOMAXPROCS is set.\n")
	return b.String()
}
