package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/testkit/seccomp"
	"github.com/weft-mpi/weft/mpi"
)

// beUser is a rank, or two that are goroutines, of a program that uses what needs the
// system: short and long messages, Alloc, windows, collective calls.
func beUser() int {
	if err := mpi.Run(2, use); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("done")
	return 0
}

func use(w *mpi.World) error {
	c := w.Comm()
	other := 1 - c.Rank()
	exchange := func(mine []int64) error {
		its := make([]int64, len(mine))
		mine[len(mine)-1] = int64(c.Rank() + 5)
		if _, err := mpi.Sendrecv(c, mine, other, 1, its, other, 1); err != nil {
			return fmt.Errorf("%d elements: %w", len(mine), err)
		}
		if got := its[len(its)-1]; got != int64(other+5) {
			return fmt.Errorf("%d elements end with %d", len(mine), got)
		}
		return nil
	}
	for _, n := range []int{1, 1000, 100_000, 500_000} {
		if err := exchange(make([]int64, n)); err != nil {
			return err
		}
	}
	m, err := mpi.Alloc[int64](100_000)
	if err != nil {
		return err
	}
	x, err := mpi.WinAllocate[int64](c, 100_000, mpi.WinOptions{})
	if err != nil {
		return err
	}
	got := []int64{0}
	err = errors.Join(exchange(m), mpi.Free(m),
		x.LockAll(), x.Put([]int64{7}, other, 99_999), x.Flush(other), x.Get(got, other, 99_999), x.Flush(other), x.UnlockAll(),
		x.Win.Free(), c.Barrier())
	if err == nil && got[0] != 7 {
		err = fmt.Errorf("the window has %d", got[0])
	}
	sum := []int64{0}
	if err := errors.Join(err, mpi.Allreduce(c, mpi.Sum, []int64{1}, sum)); err != nil || sum[0] != 2 {
		return fmt.Errorf("the sum is %d: %w", sum[0], err)
	}
	return nil
}

// beFiltered executes weft, or the ranks as goroutines, below a filter.
func beFiltered() int {
	number, _ := strconv.Atoi(os.Args[1])
	errno, _ := strconv.Atoi(os.Args[2])
	argv := []string{"weft", "run", "-n", "2", os.Getenv("TEST_OF_WEFT_SELF"), "use"}
	os.Setenv(beVar, "weft")
	switch fabric := os.Args[3]; fabric {
	case "mem":
		os.Setenv(beVar, "rank")
		argv = []string{"rank", "use"}
	case "auto":
	default:
		os.Setenv("WEFT_FABRIC", fabric)
	}
	fmt.Fprintln(os.Stderr, "no filter:", seccomp.Exec(uintptr(number), syscall.Errno(errno), argv, os.Environ()))
	return 3
}

// Each system call beyond read and write that the launcher, a transport or a thread makes is
// refused: the job runs, and says what it does without; or the call is named, and the remedy.
// What Go's runtime and package net need themselves is not here.
func TestAJobRunsWithoutASystemCallOrNamesIt(t *testing.T) {
	const all = "auto tcp mem"
	refusal := regexp.MustCompile("not permitted|not implemented|not supported")
	for _, c := range []struct {
		call   string
		number uintptr
		errno  syscall.Errno
		runs   string // over which fabrics
		says   string // where it runs in auto
	}{
		{"sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, unix.EPERM, all, "the ranks of this host are not bound to cores"},
		{"memfd_create", unix.SYS_MEMFD_CREATE, unix.EPERM, all, "over tcp only"},
		{"pidfd_open", unix.SYS_PIDFD_OPEN, unix.ENOSYS, all, "over tcp only"},
		{"fstat", unix.SYS_FSTAT, unix.EPERM, all, "over tcp only"},
		{"fallocate", unix.SYS_FALLOCATE, unix.EOPNOTSUPP, all, ""},
		{"ftruncate", unix.SYS_FTRUNCATE, unix.EPERM, all, ""},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, unix.EPERM, all, "allow process_vm_readv"},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, unix.EPERM, all, ""},
		{"membarrier", unix.SYS_MEMBARRIER, unix.ENOSYS, all, ""},
		{"madvise", unix.SYS_MADVISE, unix.EPERM, all, ""},
		{"munmap", unix.SYS_MUNMAP, unix.EPERM, all, ""},
		{"ioctl", unix.SYS_IOCTL, unix.EPERM, all, ""},
		{"kill", unix.SYS_KILL, unix.EPERM, all, ""},
		{"tgkill", unix.SYS_TGKILL, unix.EPERM, all, ""},
		{"sched_setattr", unix.SYS_SCHED_SETATTR, unix.EPERM, all, ""},
		{"sched_getattr", unix.SYS_SCHED_GETATTR, unix.EPERM, all, ""},
		{"setpriority", unix.SYS_SETPRIORITY, unix.EPERM, all, ""},
		{"prlimit64", unix.SYS_PRLIMIT64, unix.EPERM, all, ""},
		{"sysinfo", unix.SYS_SYSINFO, unix.EPERM, all, ""},
		{"uname", unix.SYS_UNAME, unix.EPERM, all, ""},
		{"statfs", unix.SYS_STATFS, unix.EPERM, all, ""},
		{"getdents64", unix.SYS_GETDENTS64, unix.EPERM, all, ""},
		{"shutdown", unix.SYS_SHUTDOWN, unix.EPERM, all, ""},
		{"setsockopt", unix.SYS_SETSOCKOPT, unix.EPERM, "auto mem", "weft top can't ask this rank"},
		{"sendto", unix.SYS_SENDTO, unix.EPERM, "auto mem", ""},
		{"recvfrom", unix.SYS_RECVFROM, unix.EPERM, "auto mem", ""},
		{"getpeername", unix.SYS_GETPEERNAME, unix.EPERM, "auto mem", ""},
		{"ppoll", unix.SYS_PPOLL, unix.ENOSYS, "mem", ""},
		{"socket", unix.SYS_SOCKET, unix.EPERM, "mem", ""},
		{"connect", unix.SYS_CONNECT, unix.EPERM, "mem", ""},
		{"bind", unix.SYS_BIND, unix.EPERM, "mem", ""},
		{"listen", unix.SYS_LISTEN, unix.EPERM, "mem", ""},
		{"accept4", unix.SYS_ACCEPT4, unix.ENOSYS, "mem", ""},
		{"sendmsg", unix.SYS_SENDMSG, unix.EPERM, "mem", ""},
		{"recvmsg", unix.SYS_RECVMSG, unix.EPERM, "mem", ""},
		{"getsockopt", unix.SYS_GETSOCKOPT, unix.EPERM, "mem", ""},
		{"sched_getaffinity", unix.SYS_SCHED_GETAFFINITY, unix.EPERM, "mem", ""},
		{"socketpair", unix.SYS_SOCKETPAIR, unix.EPERM, "mem", ""},
		{"pipe2", unix.SYS_PIPE2, unix.EPERM, "mem", ""},
		{"waitid", unix.SYS_WAITID, unix.EPERM, "mem", ""},
		{"wait4", unix.SYS_WAIT4, unix.EPERM, "mem", ""},
		{"prctl", unix.SYS_PRCTL, unix.EPERM, "mem", ""},
		{"setpgid", unix.SYS_SETPGID, unix.EPERM, "mem", ""},
		{"dup3", unix.SYS_DUP3, unix.EPERM, "mem", ""},
		{"readlink", unix.SYS_READLINKAT, unix.EPERM, "mem", ""},
	} {
		for fabric := range strings.FieldsSeq(all) {
			t.Run(c.call+"/"+fabric, func(t *testing.T) {
				t.Parallel()
				cmd := weft(t, fmt.Sprint(c.number), fmt.Sprint(int(c.errno)), fabric)
				cmd.Env = append(cmd.Env, beVar+"=filtered", "TEST_OF_WEFT_SELF="+os.Args[0])
				b, err := cmd.CombinedOutput()
				out, code := string(b), exitCode(t, err)
				runs := strings.Contains(c.runs, fabric)
				switch {
				case code == 3 && os.Getenv("WEFT_CI") != "1":
					t.Skip(out)
				case runs && (code != 0 || !strings.Contains(out, "done")):
					t.Errorf("the job ends with code %d:\n%s", code, out)
				case runs && fabric == "auto" && (!strings.Contains(out, c.says) || c.says == "" && refusal.MatchString(out)):
					t.Errorf("it says %q, want %q", out, c.says)
				case !runs && (code == 0 || !strings.Contains(out, "allow "+c.call) && !strings.Contains(out, ", "+c.call)):
					t.Errorf("the job ends with code %d and does not say to allow %s:\n%s", code, c.call, out)
				}
			})
		}
	}
}

// beBounded executes weft below a limit.
func beBounded() int {
	resource, _ := strconv.Atoi(os.Args[1])
	limit, _ := strconv.ParseUint(os.Args[2], 10, 64)
	err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit})
	if err == nil {
		os.Setenv(beVar, "weft")
		err = syscall.Exec("/proc/self/exe", []string{"weft", "run", "-n", "2", os.Getenv("TEST_OF_WEFT_SELF"), "use"}, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 3
}

func TestAJobRunsBelowALimit(t *testing.T) {
	info, _ := debug.ReadBuildInfo()
	race := slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	for _, c := range []struct {
		name     string
		resource int
		limit    uint64
		says     string
	}{
		{"address space", unix.RLIMIT_AS, 4 << 30, ""},
		{"no files", unix.RLIMIT_FSIZE, 0, "ulimit -f"},
		{"files too short for two ranks' rings", unix.RLIMIT_FSIZE, 512 << 10, "ulimit -f"},
		{"files too short for windows", unix.RLIMIT_FSIZE, 1500 << 10, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if race && c.resource == unix.RLIMIT_AS {
				t.Skip("the race detector takes more address space than any limit leaves")
			}
			cmd := weft(t, fmt.Sprint(c.resource), fmt.Sprint(c.limit))
			cmd.Env = append(cmd.Env, beVar+"=bounded", "TEST_OF_WEFT_SELF="+os.Args[0])
			b, err := cmd.CombinedOutput()
			out := string(b)
			if err != nil || strings.Count(out, "done") != 2 || !strings.Contains(out, c.says) || c.says == "" && strings.Contains(out, "WARN") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
