package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// railJob opens domains with several ports on fake devices, whose stripes are
// short.
func railJob(w *fakeNet, ports, queues int) *job {
	info := func(i int) portInfo {
		return portInfo{device: "fake" + strconv.Itoa(i), number: 1, mtu: 5, ethernet: true, reads: 16, answers: 16, atomics: true, maxMessage: 1 << 18}
	}
	var more []portInfo
	for i := 1; i < ports; i++ {
		more = append(more, info(i))
	}
	return &job{fake: true, open: func(cfg fabric.Config) (*Domain, error) {
		d, err := openRails(cfg, info(0), more, queues, "127.0.0.1", ibv.Attr{}, w.open)
		if err == nil {
			d.stripeMin = 4096
		}
		return d, err
	}}
}

func TestConformanceWithRails(t *testing.T) {
	emulated(t)
	for _, c := range []struct{ ports, queues int }{{1, 3}, {2, 1}, {3, 2}} {
		t.Run(fmt.Sprintf("%d ports of %d queue pairs", c.ports, c.queues), func(t *testing.T) {
			if testing.Short() && c.ports < 3 {
				t.Skip("three ports of two have both")
			}
			j := railJob(newFakeNet(), c.ports, c.queues)
			j.sleeps = c.ports == 3
			runConformance(t, j)
		})
	}
}

// moving does Gets and Puts between two ranks and waits for their ends.
type moving struct {
	t         testing.TB
	ds        []*Domain
	ep        fabric.Endpoint
	mine, its []byte
	seg       fabric.Segment
	target    fabric.Region // its
	remote    fabric.Remote // the same for rank 0
	m         *mourner
	op        fabric.Op
}

func newMoving(t testing.TB, ds []*Domain, ep fabric.Endpoint, n int) *moving {
	return newMovingOf(t, ds, ep, make([]byte, n))
}

// newMovingOf is newMoving with our memory given.
func newMovingOf(t testing.TB, ds []*Domain, ep fabric.Endpoint, mine []byte) *moving {
	v := &moving{t: t, ds: ds, ep: ep, mine: mine, its: make([]byte, len(mine)), m: newMourner()}
	v.seg = fabric.Segment{Bytes: v.mine, Region: register(t, ds[0], v.mine, fabric.LocalWrite)}
	v.target = register(t, ds[1], v.its, fabric.RemoteRead|fabric.RemoteWrite)
	v.remote = v.target.Remote
	return v
}

// start begins a transfer of n bytes at off.
func (v *moving) start(put bool, off, n int) {
	v.t.Helper()
	seg, m := v.seg, v.remote
	seg.Bytes = seg.Bytes[off : off+n]
	m.Addr, m.Len = m.Addr+uint64(off), m.Len-uint64(off)
	for {
		err := v.ep.Get
		do := func() error { return err(seg, m, v.op) }
		if put {
			do = func() error { return v.ep.Put(seg, m, v.op) }
		}
		switch e := do(); {
		case e == nil:
			v.op++
			return
		case e != fabric.ErrAgain:
			v.t.Fatalf("transfer of %d bytes: %v", n, e)
		}
		v.poll()
	}
}

func (v *moving) poll() {
	v.ds[0].Poll(v.m, 64)
	v.ds[1].Poll(nobody{}, 64)
}

// until polls both ranks until something holds, which is wanted to.
func (v *moving) until(wanted string, holds func() bool) {
	v.t.Helper()
	eventually(v.t, wanted, func() bool {
		v.poll()
		return holds()
	})
}

// wait polls until all that has begun has ended.
func (v *moving) wait() {
	v.t.Helper()
	v.until("all transfers have ended", func() bool { return len(v.m.ends) == int(v.op) })
	if v.m.twice {
		v.t.Error("a transfer ended twice")
	}
}

// rested says that nothing is held for transfers any more.
func (v *moving) rested() {
	v.t.Helper()
	d := v.ds[0]
	e := d.peers[1]
	v.ep.Send(1, 0, nil, nil)
	if e.up {
		e.flushMark()
		d.flush()
	}
	for range 100 {
		v.poll()
	}
	if d.outstanding != 0 || e.reserved != 0 || len(d.freeTransfers) != len(d.transfers) || len(d.freeSlots) != sendSlots {
		v.t.Errorf("left over: %d work requests, %d places, %d of %d transfers, %d of %d slots", d.outstanding, e.reserved,
			len(d.transfers)-len(d.freeTransfers), len(d.transfers), sendSlots-len(d.freeSlots), sendSlots)
	}
	for i, p := range d.ports {
		if p.outstanding != 0 {
			v.t.Errorf("port %d: %d work requests are left", i+1, p.outstanding)
		}
	}
	for k, r := range e.rails {
		if r.reserved != 0 || r.head != r.tail {
			v.t.Errorf("rail %d: %d places and %d work requests are left", k+1, r.reserved, r.tail-r.head)
		}
	}
}

// Transfers of all lengths arrive whole, many at a time, in either direction.
func TestStripesMakeAWhole(t *testing.T) {
	emulated(t)
	for _, c := range []struct{ ports, queues int }{{1, 2}, {2, 1}, {3, 3}, {2, 8}} {
		ds, eps := connected(t, railJob(newFakeNet(), c.ports, c.queues))
		rng := rand.New(rand.NewPCG(uint64(c.ports), uint64(c.queues)))
		const area = 1 << 17
		v := newMoving(t, ds, eps[0], 16*area)
		for _, put := range []bool{false, true} {
			from, to := v.its, v.mine
			if put {
				from, to = to, from
			}
			for round := range 10 {
				for i := range from {
					from[i] = byte(rng.Uint32())
				}
				clear(to)
				want := make([]byte, len(to))
				for i := range 16 {
					off, n := i*area+rng.IntN(100), rng.IntN(area-100)
					copy(want[off:], from[off:off+n])
					v.start(put, off, n)
				}
				v.wait()
				if !bytes.Equal(to, want) {
					t.Fatalf("%+v, put %t, round %d: the bytes differ", c, put, round)
				}
			}
		}
		for op, err := range v.m.ends {
			if err != nil {
				t.Errorf("%+v: transfer %d: %v", c, op, err)
			}
		}
		v.rested()
	}
}

// message sends one to rank 1 and waits until it is there.
func (v *moving) message() {
	v.t.Helper()
	sent, got := false, counter{}
	eventually(v.t, "a message arrives", func() bool {
		sent = sent || v.ep.Send(1, 0, nil, nil) == nil
		v.ds[0].Poll(v.m, 64)
		v.ds[1].Poll(&got, 64)
		return got.n > 0
	})
}

func TestEveryPortCarriesItsShare(t *testing.T) {
	emulated(t)
	for _, put := range []bool{false, true} {
		ds, eps := connected(t, railJob(newFakeNet(), 2, 2))
		v := newMoving(t, ds, eps[0], 1<<20)
		v.start(put, 0, 1<<20)
		v.wait()
		for i, n := range ds[0].hcas() {
			if got := n.(*fakeHCA).moved; got < 1<<18 {
				t.Errorf("put %t: port %d has carried %d of %d bytes", put, i, got, 1<<20)
			}
		}
		v.rested()
	}
}

// What a device has acknowledged may be on its way to the memory still, while
// another device's message is there. A Put has ended when all of it is there.
func TestTheBytesOfAPutAreThereWhenItHasEnded(t *testing.T) {
	emulated(t)
	for _, c := range []struct{ ports, queues int }{{2, 1}, {3, 2}} {
		w := newFakeNet()
		w.posted = true
		ds, eps := connected(t, railJob(w, c.ports, c.queues))
		v := newMoving(t, ds, eps[0], 1<<17)
		for round := range 10 {
			for i := range v.mine {
				v.mine[i] = noise[(i+round)%len(noise)]
			}
			v.start(true, 0, len(v.mine))
			v.wait()
			v.message()
			if err := v.m.ends[v.op-1]; err != nil || !bytes.Equal(v.mine, v.its) {
				t.Fatalf("%+v, round %d: %v; the bytes are right: %t", c, round, err, bytes.Equal(v.mine, v.its))
			}
		}
		v.rested()
	}
}

// Where the peer's table does not know the memory the first port carries all.
func TestAMissInTheTableOfKeysCostsNothingElse(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, railJob(newFakeNet(), 2, 1))
	v := newMoving(t, ds, eps[0], 1<<16)
	copy(v.its, noise)
	clear(ds[1].keysMem)
	v.start(false, 0, len(v.its))
	v.wait()
	if v.m.ends[0] != nil || !bytes.Equal(v.mine, v.its) {
		t.Errorf("ended with %v, the bytes are right: %t", v.m.ends[0], bytes.Equal(v.mine, v.its))
	}
	if got := ds[0].ports[0].hca.(*fakeHCA).moved; got != 0 {
		t.Errorf("the other port has carried %d bytes", got)
	}
	v.rested()
}

// A path that fails ends the transfers on it with an error that says so; the
// peer lives, and the next transfers take the paths that are left.
func TestALostRailIsAPathChange(t *testing.T) {
	emulated(t)
	for name, c := range map[string]struct {
		lose func(w *fakeNet, d *Domain)
		is   error // how the transfer under way ends
	}{
		"a request's own fault": {func(w *fakeNet, d *Domain) { w.fault = 4 }, ErrPathLost},
		"a refusal":             {func(w *fakeNet, d *Domain) { w.fault = ibv.RemAccessErr }, fabric.ErrBadRemote},
		"the port is down": {func(w *fakeNet, d *Domain) {
			d.ports[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventPortDown, Name: "PORT_ERR"})
		}, nil},
		"the device is dead": {func(w *fakeNet, d *Domain) {
			d.ports[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventDevice, Name: "DEVICE_FATAL"})
		}, nil},
		"a queue pair has failed": {func(w *fakeNet, d *Domain) {
			d.ports[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: d.peers[1].rails[0].qp.Num, Name: "QP_FATAL"})
		}, nil},
	} {
		w := newFakeNet()
		ds, eps := connected(t, railJob(w, 2, 1))
		v := newMoving(t, ds, eps[0], 1<<16)
		copy(v.its, noise)
		w.at = "fake1"
		c.lose(w, ds[0])
		if c.is != nil {
			v.start(false, 0, len(v.its))
			v.wait()
			if err := v.m.ends[0]; !errors.Is(err, c.is) || !strings.Contains(err.Error(), "rank 1") || errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("%s: the transfer ended with %v, want %v", name, err, c.is)
			}
		}
		v.until("the path is given up: "+name, func() bool { return ds[0].peers[1].rails[0].lost != nil })
		moved := ds[0].ports[0].hca.(*fakeHCA).moved
		for range 3 {
			clear(v.mine)
			v.start(false, 0, len(v.its))
			v.wait()
			if err := v.m.ends[v.op-1]; err != nil || !bytes.Equal(v.mine, v.its) {
				t.Errorf("%s: a transfer afterwards: %v; its bytes are right: %t", name, err, bytes.Equal(v.mine, v.its))
			}
		}
		if ds[0].ports[0].hca.(*fakeHCA).moved != moved {
			t.Errorf("%s: the lost path is used", name)
		}
		v.rested()
		if len(v.m.down) != 0 || ds[0].peers[1].rails[0].qp.Handle != 0 {
			t.Errorf("%s: PeerDown %v; the queue pair is destroyed: %t", name, v.m.down, ds[0].peers[1].rails[0].qp.Handle == 0)
		}
	}
}

// The peer ends amid transfers in all their states: each ends once, then the
// peer.
func TestAPeerThatEndsTakesItsStripesAlong(t *testing.T) {
	emulated(t)
	for polls := range 6 {
		w := newFakeNet()
		j := railJob(w, 2, 2)
		ds, eps := connected(t, j)
		v := newMoving(t, ds, eps[0], 1<<16)
		w.mu.Lock()
		w.silent = true
		w.mu.Unlock()
		for range 3 {
			v.start(false, 0, len(v.its))
			v.start(true, 0, len(v.its))
		}
		for i := range polls {
			w.mu.Lock()
			w.silent = i%2 == 0
			w.mu.Unlock()
			ds[0].Poll(v.m, 1)
		}
		if err := ds[1].crash(); err != nil {
			t.Fatal(err)
		}
		v.m.untilDown(t, ds[0])
		if len(v.m.ends) != int(v.op) {
			t.Errorf("after %d polls: %d of %d transfers have ended", polls, len(v.m.ends), v.op)
		}
		if d := ds[0]; d.outstanding != 0 || len(d.freeTransfers) != len(d.transfers) || len(d.freeSlots) != sendSlots {
			t.Errorf("after %d polls: left over: %d work requests, %d transfers, %d slots", polls, d.outstanding,
				len(d.transfers)-len(d.freeTransfers), sendSlots-len(d.freeSlots))
		}
	}
}

func TestPortsAndRailsAreChosen(t *testing.T) {
	allowAll(t)
	for _, c := range []struct{ dev, gid, want string }{
		{"rxe0,mlx5_0", "", "rxe0:2/3 mlx5_0:1/0 "},
		{"rxe0:2,rxe0:2", "3,4", "rxe0:2/3 rxe0:2/4 "},
		{"rxe0,nosuch", "", "there is no such device"},
		{"rxe0,", "", "an entry is empty"},
		{"rxe0,mlx5_0", "1,2,3", "one for each port"},
		{"a,b,c,d,e", "", "at most 4"},
	} {
		ss, err := pickAll(listDevices(sysfs()), func(name string) string { return map[string]string{envDevice: c.dev, envGID: c.gid}[name] })
		got := ""
		for _, s := range ss {
			got += fmt.Sprintf("%s:%d/%d ", s.dev.Name, s.port.Number, s.gid().Index)
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s=%q %s=%q: got %q, want %q", envDevice, c.dev, envGID, c.gid, got, c.want)
		}
	}
	for level, class := range map[string]string{"3": "0x60", "": "106", "16": "", "-1": "0", "0": "256"} {
		want, err := readSettings(func(name string) string { return map[string]string{envLevel: level, envClass: class}[name] })
		m := want.marks
		if good := map[string]marks{"3": {3, 96}, "": {0, 106}}; good[level] != (marks{}) && (m != good[level] || err != nil) ||
			good[level] == (marks{}) && err == nil {
			t.Errorf("%s=%q %s=%q: %+v, %v", envLevel, level, envClass, class, m, err)
		}
	}
	for v, want := range map[string]int{"": 1, "4": 4, "0": 0, "17": 0, "x": 0} {
		if n, err := railsWanted(func(string) string { return v }); n != want || (err == nil) != (want > 0) {
			t.Errorf("%s=%q: %d, %v", envRails, v, n, err)
		}
	}
}
