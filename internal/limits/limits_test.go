package limits

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestALimitIsNamed(t *testing.T) {
	var open syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &open); err != nil {
		t.Fatal(err)
	}
	const ports = "all ports that the kernel chooses from are in use: end what has them (ss -tan), or give it more (sysctl net.ipv4.ip_local_port_range)"
	const ipv6 = "; or the address is one of IPv6, which this machine does not have: use one of IPv4"
	listen := func(port int, err error) error {
		return &net.OpError{Op: "listen", Net: "tcp", Addr: &net.TCPAddr{Port: port}, Err: os.NewSyscallError("bind", err)}
	}
	dial := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{Port: 1}, Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)}
	for err, want := range map[error]string{
		dial: ports + ipv6, errors.Join(syscall.ECONNREFUSED, dial): ports + ipv6,
		listen(0, syscall.EADDRINUSE): ports, listen(80, syscall.EADDRINUSE): "", listen(0, syscall.EADDRNOTAVAIL): "",
		syscall.EADDRINUSE: "",
		syscall.EMFILE:     fmt.Sprintf("raise the process's limit on open files, which is %d (ulimit -n)", open.Cur),
		syscall.ENFILE:     "raise the machine's limit on open files (sysctl fs.file-max)",
		syscall.EFBIG:      "raise the process's limit on the size of a file, which holds for shared memory too (ulimit -f)",
		syscall.EPERM:      "",
		os.NewSyscallError("accept4", syscall.ENOSYS):                                "allow accept4 (a seccomp profile, a firewall or the file system may refuse it, or the kernel is too old)",
		&fs.PathError{Op: "readlink", Path: "/proc/self/ns/net", Err: syscall.EPERM}: "allow readlink (a seccomp profile, a firewall or the file system may refuse it, or the kernel is too old)",
		os.NewSyscallError("connect", syscall.ECONNREFUSED):                          "",
		Call("bind", syscall.EPERM):                                                  "", // it says it
	} {
		wrapped := fmt.Errorf("do this: %w", err)
		if got := Remedy(wrapped); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		named := Named(wrapped)
		if want != "" {
			want = "; " + want
		}
		if !errors.Is(named, err) || named.Error() != wrapped.Error()+want {
			t.Errorf("%v, want %v%s", named, wrapped, want)
		}
	}
}
