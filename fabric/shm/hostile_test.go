package shm

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// stranger is somebody at the rendezvous socket who is no rank.
type stranger struct {
	t    *testing.T
	d    *Domain
	conn *net.UnixConn
}

func call(t *testing.T, d *Domain) *stranger {
	t.Helper()
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: "@" + d.addr, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &stranger{t, d, conn}
}

func (s *stranger) hello(change func(*hello), fds ...int) {
	s.t.Helper()
	h := s.d.greeting()
	h.rank = 1
	if change != nil {
		change(&h)
	}
	utter(s.t, s.conn, &h, fds...)
}

// utter sends a greeting.
func utter(t *testing.T, conn *net.UnixConn, h *hello, fds ...int) {
	t.Helper()
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if _, _, err := conn.WriteMsgUnix(h.encode(), oob, nil); err != nil {
		t.Fatal(err)
	}
}

// read waits for a greeting. The descriptors are the caller's.
func read(conn *net.UnixConn) (h hello, fds []int, err error) {
	buf, oob := make([]byte, maxHello), make([]byte, oobSize)
	n, oobn, _, _, err := conn.ReadMsgUnix(buf, oob)
	if err == nil {
		fds, err = parseFDs(oob[:oobn])
	}
	if err == nil {
		h, err = decodeHello(buf[:n])
	}
	return h, fds, err
}

// answer waits until the domain has hung up or answered.
func (s *stranger) answer() (hello, error) {
	h, fds, err := read(s.conn)
	closeAll(fds)
	return h, err
}

// file makes a memfd of a size, sealed or not.
func file(t *testing.T, size int64, seals int) int {
	t.Helper()
	fd, err := unix.MemfdCreate("hostile", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err == nil {
		err = unix.Ftruncate(fd, size)
	}
	if err == nil && seals != 0 {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// testRings is the length of two rings in a job of a few ranks.
const testRings = 2 * (offPayload + mostPayload)

const cutOffUnsaid = "qemu-user does not tell that descriptors were cut off (MSG_CTRUNC), and keeps them"

func TestStrangersAtTheSocketLeaveTheRankUnharmed(t *testing.T) {
	const sealed = unix.F_SEAL_SHRINK
	type files struct{ control, bell, arena, rings int }
	good := func(t *testing.T) files {
		bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(bell) })
		return files{file(t, controlSize, sealed), bell, file(t, 0, sealed), file(t, testRings, sealed)}
	}
	write := func(b ...byte) func(*testing.T, *stranger) {
		return func(t *testing.T, s *stranger) {
			s.conn.Write(b)
			s.conn.CloseWrite()
		}
	}
	packet := func(t *testing.T, s *stranger) {
		if _, _, err := s.conn.WriteMsgUnix(nil, unix.UnixRights(good(t).bell), nil); err != nil {
			t.Fatal(err)
		}
	}
	greet := func(change func(*hello)) func(*testing.T, *stranger) {
		return func(t *testing.T, s *stranger) {
			f := good(t)
			s.hello(change, f.control, f.bell, f.arena, f.rings)
		}
	}
	with := func(change func(*testing.T, *files)) func(*testing.T, *stranger) {
		return func(t *testing.T, s *stranger) {
			f := good(t)
			change(t, &f)
			s.hello(nil, f.control, f.bell, f.arena, f.rings)
		}
	}
	for _, c := range []struct {
		name    string
		do      func(*testing.T, *stranger)
		refusal string // part of the reason that the stranger is told, if it is
	}{
		{"who hangs up at once", write(), ""},
		{"who says one byte", write(7), ""},
		{"who says nothing in a packet", packet, ""},
		{"who says too much", write(make([]byte, maxHello+1)...), ""},
		{"who talks garbage", write(make([]byte, 80)...), ""},
		{"of another job", greet(func(h *hello) { h.job = "other" }), "other"},
		{"of another version", greet(func(h *hello) { h.version = 99 }), "99"},
		{"of a rank that is not", greet(func(h *hello) { h.rank = 2 }), "rank 2"},
		{"without descriptors", func(t *testing.T, s *stranger) { s.hello(nil) }, "descriptors"},
		{"with one descriptor", func(t *testing.T, s *stranger) { s.hello(nil, good(t).control) }, "descriptors"},
		{"with too many descriptors", func(t *testing.T, s *stranger) {
			f := good(t)
			s.hello(nil, f.control, f.bell, f.arena, f.rings, f.rings, f.rings, f.control)
		}, ""},
		{"of the rank's own number", greet(func(h *hello) { h.rank = 0 }), "rank 0"},
		{"whose control can shrink", with(func(t *testing.T, f *files) { f.control = file(t, controlSize, 0) }), "sealed"},
		{"whose control is short", with(func(t *testing.T, f *files) { f.control = file(t, 1, sealed) }), "bytes"},
		{"whose control is no memfd", with(func(t *testing.T, f *files) { f.control = f.bell }), "memfd"},
		{"whose arena can shrink", with(func(t *testing.T, f *files) { f.arena = file(t, 1<<20, 0) }), "sealed"},
		{"whose rings can shrink", with(func(t *testing.T, f *files) { f.rings = file(t, testRings, 0) }), "sealed"},
		{"whose rings are short", with(func(t *testing.T, f *files) { f.rings = file(t, testRings-1, sealed) }), "bytes"},
		{"whose rings are an eventfd", with(func(t *testing.T, f *files) { f.rings = f.bell }), "memfd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if qemu != "" && strings.HasPrefix(c.name, "with too many") {
				t.Skip(cutOffUnsaid)
			}
			ds := openJob(t, 2)
			d := ds[0].(*Domain)
			s := call(t, d)
			func() {
				t.Run("calls", func(t *testing.T) {
					c.do(t, s)
					h, err := s.answer()
					if c.refusal != "" && (err != nil || !strings.Contains(h.refusal, c.refusal)) {
						t.Errorf("it was answered %q, %v, want a refusal about %q", h.refusal, err, c.refusal)
					}
					if err == nil && h.refusal == "" {
						t.Error("it was welcomed")
					}
				})
			}()
			s.conn.Close()
			// The true rank 1 still finds its place, both ways.
			connected(t, ds[0], ds[1]).exchange("alive")
		})
	}
}

func TestStrangersLeaveNoDescriptorsBehind(t *testing.T) {
	if err := processArena().why; err != nil {
		t.Fatal(err)
	}
	ds := openJob(t, 2)
	d := ds[0].(*Domain)
	f := [4]int{file(t, controlSize, unix.F_SEAL_SHRINK), 0, file(t, 0, unix.F_SEAL_SHRINK), file(t, 64, unix.F_SEAL_SHRINK)}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(bell)
	f[1] = bell
	bad := func() {
		for _, fds := range [][]int{f[:], f[:1], {bell, bell, bell, bell}, {f[0], f[0], f[0], f[0]}, {f[0], f[1], f[2], f[3], f[0], f[1]}} {
			if qemu != "" && len(fds) > maxFDs {
				t.Log("six descriptors are not sent: " + cutOffUnsaid)
				continue
			}
			s := call(t, d)
			s.hello(nil, fds...)
			if h, err := s.answer(); err == nil && h.refusal == "" {
				t.Error("it was welcomed")
			}
			s.conn.Close()
		}
	}
	bad() // whatever is made once
	before := openFiles(t)
	for range 10 {
		bad()
	}
	// The answering side closes a little after its answer.
	waitFor(t, "the descriptors to be closed", func() bool { return openFiles(t) <= before })
}

// A stranger who says nothing holds up neither the others nor Close.
func TestASilentStrangerHoldsNobodyUp(t *testing.T) {
	ds := openJob(t, 2)
	for range 5 {
		call(t, ds[0].(*Domain))
	}
	connected(t, ds[0], ds[1]).exchange("alive")
	for _, d := range ds {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenAndCloseLeaveNoDescriptorsBehind(t *testing.T) {
	round := func() {
		var ds []fabric.Domain
		for r := range 2 {
			d, err := Provider{}.Open(fabric.Config{Rank: fabric.Peer(r), Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d)
		}
		connected(t, ds[0], ds[1])
		if err := errors.Join(ds[0].Close(), ds[1].Close()); err != nil {
			t.Fatal(err)
		}
	}
	leavesNoFiles(t, round)
}

func TestAConnectionToNobodyFails(t *testing.T) {
	ds := openJob(t, 3)
	n := newNode(t, ds[0])
	for p, addr := range map[fabric.Peer]string{1: "weft-nobody", 2: string(ds[1].Addr())} {
		if _, err := ds[0].Connect(p, []byte(addr)); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "PeerDown", func() bool { ds[0].Poll(n, 64); return n.down[p] != nil })
		if !errors.Is(n.down[p], fabric.ErrPeerDown) {
			t.Errorf("PeerDown(%v)", n.down[p])
		}
	}
	if !strings.Contains(n.down[2].Error(), "rank 1 answers there") {
		t.Errorf("PeerDown(%v) does not say who answered", n.down[2])
	}
}
