// Package atomicfile writes files that are there as a whole or as they were: a new file is
// written beside the old one, and renamed. All files that a user names and that Weft writes
// are checked here, since a rename replaces devices and sockets as readily as files.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weft-mpi/weft/internal/limits"
)

// KindError says that a file is none that may be replaced.
type KindError struct {
	Path string
	Mode fs.FileMode // what it is
}

func (e *KindError) Error() string {
	what := map[fs.FileMode]string{fs.ModeDir: "a directory", fs.ModeSymlink: "a link to a link", fs.ModeNamedPipe: "a pipe", fs.ModeSocket: "a socket"}[e.Mode.Type()]
	what = cmp.Or(what, "a device")
	return fmt.Sprintf("%s is no regular file but %s: name one that Weft may replace, or one that does not exist yet", e.Path, what)
}

// Check returns a *KindError unless a path is that of a regular file, of a link to one, or
// of none yet. It is the link that is replaced. A link to a link is refused: /dev/stdout is
// one, and may lead to a regular file.
func Check(path string) error {
	st, err := os.Lstat(path)
	if err == nil && st.Mode().Type() == fs.ModeSymlink {
		to, lerr := os.Readlink(path)
		if lerr != nil {
			return lerr
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		st, err = os.Lstat(to)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return &KindError{path, st.Mode()}
	}
	return nil
}

// Write replaces a file, if Check permits it, by what write writes. All may read it.
func Write(path string, write func(io.Writer) error) (err error) {
	defer func() {
		if !limits.Refused(err) { // of a file, the file system is the reason
			err = limits.Named(err)
		}
	}()
	if err := Check(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".weft-*")
	if err != nil {
		return err
	}
	err = write(f)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
