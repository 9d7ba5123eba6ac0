package verbs

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
)

// secondDevice makes rxe1 in the guest.
func secondDevice(t *testing.T) {
	if os.Getenv("WEFT_ROCE") == "" {
		t.Skip("it makes an RDMA device; scripts/roce runs it in a guest")
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	run("ip", "link", "add", "dummy1", "type", "dummy")
	t.Cleanup(func() { exec.Command("ip", "link", "del", "dummy1").Run() })
	run("ip", "link", "set", "dummy1", "mtu", "4500", "up")
	run("ip", "address", "add", "10.78.0.1/24", "dev", "dummy1")
	run("rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "dummy1")
	t.Cleanup(func() { exec.Command("rdma", "link", "del", "rxe1").Run() })
	t.Setenv(envDevice, "rxe0,rxe1")
	eventually(t, "rxe1 can be used", func() bool {
		_, err := find(os.Getenv)
		return err == nil
	})
}

// packets is how many a device has sent and received.
func packets(t *testing.T, device string) (n uint64) {
	for _, name := range []string{"sent_pkts", "rcvd_pkts"} {
		b, err := os.ReadFile("/sys/class/infiniband/" + device + "/ports/1/hw_counters/" + name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n += c
	}
	return n
}

// Two devices, two queue pairs on each: the conformance suite, the bytes over
// both, and the loss of one.
func TestRailsOnTwoDevices(t *testing.T) {
	secondDevice(t)
	t.Setenv(envRails, "2")
	short := func(cfg fabric.Config) (*Domain, error) {
		d, err := openDevice(cfg)
		if err == nil {
			d.stripeMin = 4096
		}
		return d, err
	}
	t.Run("Conformance", func(t *testing.T) {
		// Its messages take the way of one device's.
		h := (&job{open: short}).harness()
		h.Brief = true
		fabrictest.Run(t, h)
	})
	ds, eps := connected(t, &job{open: openDevice})
	if n := len(ds[0].peers[1].rails); n != 3 {
		t.Fatalf("%d rails, want 3", n)
	}
	const size = 4 << 20
	v := newMoving(t, ds, eps[0], size)
	for _, put := range []bool{false, true} {
		from, to := v.its, v.mine
		if put {
			from, to = to, from
		}
		for i := range from {
			from[i] = noise[i%len(noise)] + byte(i>>16)
		}
		clear(to)
		before := [2]uint64{packets(t, "rxe0"), packets(t, "rxe1")}
		v.start(put, 0, size)
		v.wait()
		if err := v.m.ends[v.op-1]; err != nil || !bytes.Equal(from, to) {
			t.Errorf("put %t: %v; the bytes are right: %t", put, err, bytes.Equal(from, to))
		}
		for i, device := range []string{"rxe0", "rxe1"} {
			// Half of the bytes, in packets of 4 KB that are sent and received.
			n, least := packets(t, device)-before[i], uint64(size/2/4096*2)
			t.Logf("put %t: %s has moved %d packets", put, device, n)
			if n < least {
				t.Errorf("put %t: %s has moved %d packets, want %d at least", put, device, n, least)
			}
		}
	}
	port, queue, fenced := ds[0].peers[1].rails[0], ds[0].peers[1].rails[1], ds[0].peers[1].rails[2]
	if port.port != 1 || queue.port != 0 || fenced.port != 1 {
		t.Fatalf("the rails are of the ports %d, %d and %d", port.port, queue.port, fenced.port)
	}
	v.through("a queue pair of the other port that fails", fenced, true, func() {
		if err := ds[0].ports[0].hca.FailQP(fenced.qp); err != nil {
			t.Fatal(err)
		}
	})
	v.through("a port that goes down", port, false, func() {
		if out, err := exec.Command("ip", "link", "set", "dummy1", "down").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
	v.through("a queue pair that fails", queue, true, func() {
		if err := ds[0].hca.FailQP(queue.qp); err != nil {
			t.Fatal(err)
		}
	})
	for _, r := range ds[0].peers[1].rails {
		if r.lost == nil || r.qp.Handle != 0 {
			t.Errorf("a path over port %d is lost with %v, and destroyed: %t", r.port, r.lost, r.qp.Handle == 0)
		}
	}
	v.start(false, 0, size)
	v.wait()
	if err := v.m.ends[v.op-1]; err != nil {
		t.Errorf("over the path that is left: %v", err)
	}
}

// through loses a rail amid transfers, which are to end well. They follow one
// another until a stripe has been lost.
func (v *moving) through(what string, r *rail, put bool, lose func()) {
	v.t.Helper()
	from, to := v.ends(put)
	for i := range from {
		from[i] = noise[(i+len(what))%len(noise)] + byte(i>>16)
	}
	clear(to)
	first := v.op
	for range 3 {
		v.start(put, 0, len(from))
	}
	lose()
	v.until("the path is given up", func() bool {
		if r.lost == nil && int(v.op)-len(v.m.ends) < 3 {
			v.start(put, 0, len(from))
		}
		return r.lost != nil
	})
	v.t.Logf("%s: amid %d transfers, %v", what, int(v.op)-len(v.m.ends), r.lost)
	v.wait()
	for op := first; op < v.op; op++ {
		if err := v.m.ends[op]; err != nil {
			v.t.Errorf("%s: transfer %d: %v", what, op-first, err)
		}
	}
	if !bytes.Equal(from, to) || len(v.m.down) > 0 {
		v.t.Errorf("%s: the bytes are right: %t, PeerDown %v", what, bytes.Equal(from, to), v.m.down)
	}
	v.until("the path is destroyed", func() bool { return r.qp.Handle == 0 })
}
