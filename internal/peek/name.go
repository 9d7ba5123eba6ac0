package peek

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Name is a rank's socket.
type Name struct {
	Job  string // lower-case hexadecimal digits, 64 at most
	Rank int
}

// prefix begins the name of each socket. The @ stands for the zero byte of an abstract
// one (unix(7)).
const prefix = "@weft/"

func (n Name) socket() string { return fmt.Sprintf("%s%s/%d", prefix, n.Job, n.Rank) }

// valid reports whether n makes a name of a socket that parse takes apart again.
func (n Name) valid() bool {
	return n.Job != "" && len(n.Job) <= 64 && strings.Trim(n.Job, "0123456789abcdef") == "" && n.Rank >= 0
}

// parse returns the rank of a socket's name.
func parse(socket string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(socket, prefix)
	if !ok {
		return n, false
	}
	job, rank, _ := strings.Cut(rest, "/")
	number, err := strconv.Atoi(rank)
	n = Name{job, number}
	return n, err == nil && n.valid() && n.socket() == socket
}

// List returns the ranks that listen in this network namespace, of all users, by job and
// rank. Whoever asks them learns whose they are.
func List() ([]Name, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("list the sockets of ranks: %w", err)
	}
	defer f.Close()
	return list(f)
}

// accepts is the flag of sockets that listen (__SO_ACCEPTCON of the kernel).
const accepts = 1 << 16

// list reads a table of sockets as /proc/net/unix has it: Num, RefCount, Protocol, Flags,
// Type, St, Inode, Path. Connections have the name of their listener and are skipped.
func list(r io.Reader) (names []Name, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 8 {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 64)
		if n, ok := parse(f[7]); ok && err == nil && flags&accepts != 0 {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b Name) int { return cmp.Or(strings.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank)) })
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list the sockets of ranks: %w", err)
	}
	return slices.Compact(names), nil
}
