package tcp

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// What finds a peer that is lost, by what is lost:
//
//   - its process: the kernel of its host ends the connections at once;
//   - a process that is stopped: the Pings of the heartbeat;
//   - its host or the network, a peer that is asked: the same Pings;
//   - its host or the network, a peer that polls in its own calls only: keepalive
//     where nothing is under way, else the retransmissions that the heartbeat finds
//     unanswered.
//
// TCP_USER_TIMEOUT stays unset. It also ends a connection whose peer is there and
// has no room: one that computes and does not poll, or a job that is stopped as a
// whole. Without a deadline nothing is asked; the kernel itself gives up bytes that
// nobody has acknowledged for a quarter of an hour (tcp_retries2).

// keepaliveProbes is how many unanswered ones end a connection.
const keepaliveProbes = 4

// tcpRTOMax is TCP_RTO_MAX_MS of linux/tcp.h, since Linux 6.15.
const tcpRTOMax = 44

// keep sets when the kernel asks the peer's. A socket that fails here is lost, which
// its reader finds.
func (d *Domain) keep(conn *net.TCPConn) {
	k := net.KeepAliveConfig{}
	if limit := d.set.deadline; limit > 0 {
		k = net.KeepAliveConfig{Enable: true, Count: keepaliveProbes,
			Idle: max(limit/2, time.Second), Interval: max(limit/(2*keepaliveProbes), time.Second)}
	}
	conn.SetKeepAliveConfig(k)
	if raw, err := conn.SyscallConn(); err == nil && d.set.deadline > 0 {
		// A link that was cut for less than the deadline and is there again is found
		// within it: the pauses between retransmissions would double without end.
		// Kernels that do not know the option lose such a peer.
		raw.Control(func(fd uintptr) {
			most := min(max(d.set.deadline/beats, time.Second), time.Minute)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, tcpRTOMax, int(most.Milliseconds()))
		})
	}
}
