package doctor

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childTime bounds a child that does not reply.
const childTime = 10 * time.Second

// secretLen is how many bytes are read of a process.
const secretLen = 64

// ReadChild starts a child process by start, and has each of the two read the other's
// memory. start returns a command that calls Child with the one argument that it is
// given, and with its own input and output.
func ReadChild(ctx context.Context, start func(ctx context.Context, arg string) *exec.Cmd) (r Reads, err error) {
	ctx, cancel := context.WithTimeout(ctx, childTime)
	defer cancel()
	mine, err := secret()
	if err != nil {
		return r, err
	}
	defer unix.Munmap(mine)
	cmd := start(ctx, fmt.Sprintf("%d:%d", os.Getpid(), addressOf(mine)))
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	defer func() {
		in.Close() // which ends the child
		if werr := cmd.Wait(); err == nil && werr != nil {
			err = fmt.Errorf("the child: %w", werr)
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return r, fmt.Errorf("read what the child says: %w", err)
	}
	var addr uint64
	var secretText, readText string
	if _, err := fmt.Sscan(line, &addr, &secretText, &readText); err != nil {
		return r, fmt.Errorf("the child says %q: %w", line, err)
	}
	its, err := hex.DecodeString(secretText)
	if err != nil {
		return r, fmt.Errorf("the child says %q: %w", line, err)
	}
	got, err := readProcess(cmd.Process.Pid, addr, len(its))
	r.Child = same(got, its, err)
	if n, is := strings.CutPrefix(readText, "errno:"); is {
		number, err := strconv.Atoi(n)
		if err != nil {
			return r, fmt.Errorf("the child says %q: %w", line, err)
		}
		r.Parent = syscall.Errno(number)
		return r, nil
	}
	got, err = hex.DecodeString(readText)
	r.Parent = same(got, mine, err)
	return r, nil
}

// Child is the other process of ReadChild. It ends with its input.
func Child(arg string, in io.Reader, out io.Writer) error {
	pidText, addrText, _ := strings.Cut(arg, ":")
	pid, err := strconv.Atoi(pidText)
	addr, aerr := strconv.ParseUint(addrText, 10, 64)
	if err := errors.Join(err, aerr); err != nil {
		return err
	}
	mine, err := secret()
	if err != nil {
		return err
	}
	defer unix.Munmap(mine)
	got, err := readProcess(pid, addr, secretLen)
	text := hex.EncodeToString(got)
	if err != nil {
		errno := syscall.EIO
		errors.As(err, &errno)
		text = fmt.Sprintf("errno:%d", int(errno))
	}
	if _, err := fmt.Fprintln(out, addressOf(mine), hex.EncodeToString(mine), text); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// secret is memory that stays where it is, unlike that of a goroutine's stack, with
// bytes that nobody else has.
func secret() ([]byte, error) {
	b, err := unix.Mmap(-1, 0, secretLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map memory: %w", err)
	}
	rand.Read(b) // crypto/rand.Read never fails
	return b, nil
}

// errOther says that what was read is not what the other process has.
var errOther = errors.New("the bytes are not those of the other process")

func same(got, want []byte, err error) error {
	if err == nil && !bytes.Equal(got, want) {
		err = errOther
	}
	return err
}

// readProcess reads n bytes at an address of a process, as a receiver of package shm
// does.
func readProcess(pid int, addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}, 0)
	if err == nil && got != n {
		err = syscall.EFAULT
	}
	return b, err
}
