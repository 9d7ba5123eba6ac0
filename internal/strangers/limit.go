package strangers

import "syscall"

// leastConnections is how many connections there may be whatever the limit.
const leastConnections = 8

// Connections returns how many connections may be open of those who have not proved that
// they belong to the job: one in so many of the descriptors that the process may have
// (RLIMIT_NOFILE), and most at most.
func Connections(one, most int) int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return leastConnections
	}
	return int(max(min(limit.Cur/uint64(one), uint64(most)), leastConnections))
}
