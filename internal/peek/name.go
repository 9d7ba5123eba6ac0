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

	"github.com/weft-mpi/weft/internal/strangers"
)

// Name is a rank's socket.
type Name struct {
	Job  string // lower-case hexadecimal digits, 64 at most
	Rank int
	Tag  string // 32 such digits: without the job's key nobody takes the name before the rank
}

// Key is the job's secret, which makes its names.
type Key [32]byte

// NameOf returns the name of a rank's socket.
func NameOf(key Key, job string, rank int) Name { return Name{job, rank, key.tag(job, rank)} }

// tag is that of a rank, or of lastRank.
func (key *Key) tag(job string, rank int) string {
	return strangers.Name(key[:], fmt.Sprintf("peek %s/%d", job, rank))
}

// prefix begins the name of each socket. The @ stands for the zero byte of an abstract
// one (unix(7)).
const prefix = "@weft/"

func (n Name) socket() string { return fmt.Sprintf("%s%s/%d/%s", prefix, n.Job, n.Rank, n.Tag) }

// valid reports whether n makes a name of a socket that parse takes apart again.
func (n Name) valid() bool {
	const hex = "0123456789abcdef"
	return n.Job != "" && len(n.Job) <= 64 && strings.Trim(n.Job, hex) == "" && len(n.Tag) == 32 && strings.Trim(n.Tag, hex) == "" && n.Rank >= 0
}

// parse returns the rank of a socket's name.
func parse(socket string) (n Name, ok bool) {
	rest, ok := strings.CutPrefix(socket, prefix)
	if !ok {
		return n, false
	}
	job, rest, _ := strings.Cut(rest, "/")
	rank, tag, _ := strings.Cut(rest, "/")
	number, err := strconv.Atoi(rank)
	n = Name{job, number, tag}
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
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(strings.Compare(a.Job, b.Job), cmp.Compare(a.Rank, b.Rank), strings.Compare(a.Tag, b.Tag))
	})
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list the sockets of ranks: %w", err)
	}
	return slices.Compact(names), nil
}
