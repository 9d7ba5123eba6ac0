package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A device can't be made by every user, and a pipe stands for it: what is no file stays
// what it is, and files and links to them are replaced.
func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("directory"), 0o700), os.WriteFile(at("file"), nil, 0o600),
		os.Symlink("pipe", at("to a pipe")), os.Symlink(at("file"), at("to a file")), os.Symlink("file", at("spare")), os.Symlink("spare", at("to a link")),
		os.Symlink("nothing", at("to nothing")))
	if err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string]bool{"pipe": false, "directory": false, "to a pipe": false, "to a link": false,
		"to a file": true, "to nothing": true, "file": true, "new": true} {
		before, _ := os.Lstat(at(name))
		err := Write(at(name), func(w io.Writer) error { _, err := io.WriteString(w, name); return err })
		after, _ := os.Lstat(at(name))
		if _, bad := errors.AsType[*KindError](err); bad == good || good && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !good {
			if !os.SameFile(before, after) {
				t.Errorf("%s is %v now", name, after.Mode())
			}
			continue
		}
		if text, _ := os.ReadFile(at(name)); string(text) != name || !after.Mode().IsRegular() {
			t.Errorf("%s is %v with %q", name, after.Mode(), text)
		}
	}
	failed := errors.New("no more")
	if err := Write(at("file"), func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a failed write: %v", err)
	}
	for errno, says := range map[syscall.Errno]string{syscall.EFBIG: "(ulimit -f)", syscall.EPERM: ": operation not permitted"} {
		failed := &os.PathError{Op: "write", Path: "x", Err: errno}
		if err := Write(at("file"), func(io.Writer) error { return failed }); !errors.Is(err, errno) || !strings.HasSuffix(err.Error(), says) {
			t.Errorf("a failed write: %v", err)
		}
	}
	if text, _ := os.ReadFile(at("file")); string(text) != "file" {
		t.Errorf("a failed write leaves %q", text)
	}
	if left, _ := filepath.Glob(at(".weft-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestADeviceIsRefused(t *testing.T) {
	if err := Check(os.DevNull); err == nil || err.Error() != "/dev/null is no regular file but a device: name one that Weft may replace, or one that does not exist yet" {
		t.Errorf("%v", err)
	}
}
