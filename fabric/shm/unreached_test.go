package shm

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// The stranger hears the end of the connection after whatever was logged.
func TestOnlyARefusalIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*stranger)
		says string
	}{
		{"who hangs up at once", func(s *stranger) { s.conn.CloseWrite() }, ""},
		{"who hangs up in the midst of a greeting", func(s *stranger) {
			s.hello(nil)
			s.conn.CloseWrite()
		}, "descriptors"},
		{"of another job", func(s *stranger) { s.hello(func(h *hello) { h.job = "other" }) }, "other"},
		{"who talks garbage", func(s *stranger) { s.conn.Write(make([]byte, 80)) }, "not a Weft greeting"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log records
			d := openOne(t, fabric.Config{Size: 2, Job: t.Name(), Log: slog.New(slog.NewTextHandler(&log, nil))}).(*Domain)
			s := call(t, d)
			c.do(s)
			io.Copy(io.Discard, s.conn)
			if got := log.String(); !strings.Contains(got, c.says) || c.says == "" && got != "" || c.says != "" && !strings.Contains(got, "WARN") {
				t.Errorf("the log says %q, want %q", got, c.says)
			}
		})
	}
}

// A rank may end while another looks at what it has sent.
func TestAPeerThatHasGoneIsToldFromOneThatIsRefused(t *testing.T) {
	gone := []error{
		errAbsent, errHungUp, io.EOF, unix.EPIPE, unix.ECONNRESET,
		&fabric.Error{Op: "watch process 7", Err: unix.ESRCH, Remedy: "none"},
	}
	for _, err := range gone {
		if !hasGone(fmt.Errorf("receive greeting: %w", err)) {
			t.Errorf("%v is taken for a refusal", err)
		}
	}
	for _, err := range []error{nil, errors.New("another job"), unix.EMFILE, unix.EPERM, unix.ENOSYS} {
		if hasGone(err) {
			t.Errorf("%v is taken for a peer that has gone", err)
		}
	}
}

func TestAnAddressThatNobodyListensAtSaysWhy(t *testing.T) {
	const elsewhere, remedy = "net:[1]", "one network namespace"
	own := netNamespace()
	if own == "" {
		t.Fatal("/proc/self/ns/net can't be read")
	}
	for _, c := range []struct {
		name, addr string
		says       []string
		hint       bool
	}{
		{"in this namespace", "weft-nobody " + own, []string{"connection refused"}, false},
		{"in another", "weft-nobody " + elsewhere, []string{"connection refused", "is in another network namespace (" + elsewhere + ", this rank in " + own + ")"}, true},
		{"in an unknown one", "weft-nobody", []string{"connection refused", "has ended, or is in another network namespace"}, true},
	} {
		ds := openJob(t, 2)
		n := newNode(t, ds[0])
		if _, err := ds[0].Connect(1, []byte(c.addr)); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "PeerDown", func() bool { ds[0].Poll(n, 64); return n.down[1] != nil })
		err := n.down[1]
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", c.name, err, s)
			}
		}
		if !errors.Is(err, fabric.ErrPeerDown) || !errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, fabric.ErrPeerLeft) == c.hint || strings.Contains(err.Error(), remedy) != c.hint {
			t.Errorf("%s: %q", c.name, err)
		}
	}
}
