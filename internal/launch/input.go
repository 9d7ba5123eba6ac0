package launch

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// input feeds rank 0; the others read /dev/null.
type input struct {
	fd    int           // what rank 0 reads
	pipe  *os.File      // our end of the pipe, or nil
	child *os.File      // the rank's end, closed here once the rank has it; or nil
	done  chan struct{} // closed when the copying goroutine returns
}

// newInput prepares the standard input of rank 0. A terminal goes through a
// pipe, as other readers do: ranks are in process groups of their own, which
// may not read from the launcher's terminal.
func newInput(r io.Reader, null *os.File) (*input, error) {
	if r == nil {
		return &input{fd: int(null.Fd())}, nil
	}
	if f, ok := r.(*os.File); ok && f != nil {
		fd := int(f.Fd())
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			return &input{fd: fd}, nil
		}
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("launch: open the input pipe: %w", err)
	}
	in := &input{fd: p[0], child: os.NewFile(uintptr(p[0]), "input of rank 0"), done: make(chan struct{})}
	if err := unix.SetNonblock(p[1], true); err != nil {
		in.child.Close()
		unix.Close(p[1])
		return nil, fmt.Errorf("launch: open the input pipe: %w", err)
	}
	in.pipe = os.NewFile(uintptr(p[1]), "input of ranks")
	go func() {
		defer close(in.done)
		defer in.pipe.Close()
		io.Copy(in.pipe, r) // returns EPIPE once rank 0 has closed its end
	}()
	return in, nil
}

// started closes the rank's end in the launcher.
func (in *input) started() {
	if in.child != nil {
		in.child.Close()
		in.child = nil
	}
}

// stop closes the pipe. The copying goroutine may stay blocked in a Read of the
// user's reader, which nothing can interrupt. It writes nothing more.
func (in *input) stop() {
	in.started()
	if in.pipe != nil {
		in.pipe.Close()
	}
}
