package verbs

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// resources counts the queue pairs, regions, completion queues and so on that
// the kernel holds, of all processes: "rxe0 qp" 2.
func resources(t *testing.T) map[string]int {
	t.Helper()
	out, err := exec.Command("rdma", "resource", "show").CombinedOutput()
	if err != nil {
		if os.Getenv("WEFT_ROCE") != "" {
			t.Fatalf("WEFT_ROCE is set, and rdma resource show answers %v: %s", err, out)
		}
		t.Skipf("rdma resource show: %v: %s", err, out)
	}
	held := map[string]int{}
	for line := range strings.Lines(string(out)) {
		_, line, _ = strings.Cut(line, ": ")
		device, counts, _ := strings.Cut(line, ": ")
		for _, m := range regexp.MustCompile(`(\w+) (\d+)`).FindAllStringSubmatch(counts, -1) {
			held[device+" "+m[1]], _ = strconv.Atoi(m[2])
		}
	}
	for _, kind := range []string{"qp", "mr", "cq"} {
		found := false
		for name := range held {
			found = found || strings.HasSuffix(name, " "+kind)
		}
		if !found {
			t.Fatalf("rdma resource show tells no number of %ss: %s", kind, out)
		}
	}
	return held
}

func TestNothingIsLeftInTheKernel(t *testing.T) {
	needDevice(t)
	before := resources(t)
	for range 3 {
		j := &job{open: openDevice}
		ds, eps := connected(t, j)
		buf := make([]byte, 4096)
		register(t, ds[0], buf, fabric.RemoteRead)
		register(t, ds[0], buf, fabric.RemoteWrite)
		eps[0].Send(1, 0, nil, buf)
		if during := resources(t); maps.Equal(before, during) {
			t.Error("two open domains hold nothing: nothing is proved")
		}
		ds[0].crash()
		m := newMourner()
		m.untilDown(t, ds[1])
		ds[1].Close()
	}
	if after := resources(t); !maps.Equal(after, before) {
		t.Errorf("the kernel holds\n%v\nbefore it held\n%v", after, before)
	}
}

// The link goes down amid a transfer: the operations and the peer end, and
// nothing is left of them. A port is given up after portGrace, a silent path
// after ackRetries timeouts: about a second each, where the machine is idle.
func TestLinkDownEndsPeers(t *testing.T) {
	if os.Getenv("WEFT_ROCE") == "" {
		t.Skip("it takes the network interface down; scripts/roce runs it in a guest")
	}
	before := resources(t)
	ds, eps := pair(t)
	s, err := find(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	link := s[0].gid().Netdev
	src, dst := bytes.Repeat(noise, 64), make([]byte, 64*len(noise))
	from := register(t, ds[1], src, fabric.RemoteRead)
	into := fabric.Segment{Bytes: dst, Region: register(t, ds[0], dst, fabric.LocalWrite)}
	m := newMourner()
	const window = 8
	begun := fabric.Op(0)
	begin := func() { // keeps READs under way
		for ; len(m.down) == 0 && int(begun)-len(m.ends) < window; begun++ {
			if err := eps[0].Get(into, from.Remote, begun); err == fabric.ErrAgain || errors.Is(err, fabric.ErrPeerDown) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	for len(m.ends) == 0 {
		begin()
		ds[0].Poll(m, 64)
	}
	up := setLink(t, link)
	start := time.Now()
	eventually(t, "the peer's end is reported", func() bool {
		begin()
		ds[0].Poll(m, 64)
		return len(m.down) > 0
	})
	t.Logf("after %v: %v", time.Since(start).Round(time.Millisecond), m.down[0])
	m.untilDown(t, ds[0])
	failed := 0
	for op := range begun {
		switch err, ok := m.ends[op]; {
		case !ok:
			t.Errorf("READ %d of %d has not ended", op, begun)
		case err != nil:
			failed++
			if !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("READ %d: %v", op, err)
			}
		case failed > 0:
			t.Errorf("READ %d went well behind one that failed", op)
		}
	}
	if failed == 0 {
		t.Error("no READ was under way at the end: nothing is proved")
	}
	if !bytes.Equal(src, dst) {
		t.Error("what was read has other bytes")
	}
	t.Logf("%d READs of %d bytes went well, %d failed", int(begun)-failed, len(src), failed)
	for _, d := range ds {
		d.Close()
	}
	up()
	if after := resources(t); !maps.Equal(after, before) {
		t.Errorf("the kernel holds\n%v\nbefore it held\n%v", after, before)
	}
}

// setLink takes an interface down. up brings it back, at the end of the test at
// the latest, and waits until the port above it can be used.
func setLink(t *testing.T, link string) (up func()) {
	t.Helper()
	set := func(state string) {
		if out, err := exec.Command("ip", "link", "set", link, state).CombinedOutput(); err != nil {
			t.Fatalf("ip link set %s %s: %v: %s", link, state, err, out)
		}
	}
	done := false
	up = func() {
		if done {
			return
		}
		done = true
		set("up")
		eventually(t, "the port comes back", func() bool { return Provider{}.Available() == nil })
	}
	t.Cleanup(up)
	set("down")
	return up
}
