package tcp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// What is a card can be written again, and has doors that can be dialled.
func FuzzCard(f *testing.F) {
	a := card{Version: protocolVersion, Rank: 3}
	a.open(door{netip.MustParseAddrPort("10.0.0.1:99"), 8, 1000})
	a.open(door{netip.MustParseAddrPort("[2001:db8::1]:99"), 64, 0})
	f.Add(a.encode())
	f.Add([]byte(`{"v":2,"listen":["127.0.0.1:1"],"bits":[-1],"speeds":[-5]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeCard(b)
		if err != nil {
			return
		}
		doors := a.doors()
		if len(doors) == 0 || len(doors) > maxDoors {
			t.Errorf("%d doors", len(doors))
		}
		for _, o := range order(doors, doors[:1], doors[len(doors)-1].addr) {
			if !o.addr.IsValid() || !o.network().IsValid() || o.speed < 0 {
				t.Errorf("a door %+v", o)
			}
		}
		if len(a.encode()) > maxCard {
			return
		}
		if again, err := decodeCard(a.encode()); err != nil || !reflect.DeepEqual(again.doors(), doors) {
			t.Errorf("%+v comes back as %+v, %v", a, again, err)
		}
	})
}

func TestTheLongestCardIsNotTooLong(t *testing.T) {
	a := card{Version: protocolVersion, Rank: 1 << 31}
	for range maxDoors {
		a.open(door{netip.MustParseAddrPort("[2001:db80:1111:2222:3333:4444:5555:6666]:65535"), 128, 400_000})
	}
	for i := range a.Token {
		a.Token[i] = 255
	}
	if _, err := decodeCard(a.encode()); err != nil {
		t.Error(err)
	}
}

// frames strings frames together, for seeds.
func frames(list ...any) (b []byte) {
	for _, x := range list {
		switch x := x.(type) {
		case header:
			var h [headerSize]byte
			x.put(h[:])
			b = append(b, h[:]...)
		case []byte:
			b = append(b, x...)
		}
	}
	return b
}

// A peer that has greeted may send anything. It ends the connection, or changes
// what it may: memory that is registered for it, and what it was asked for.
func FuzzFrames(f *testing.F) {
	key := uint64(1<<32 | 1) // of the first registration, without a secret
	remote := func(m fabric.Remote, more ...byte) []byte {
		var b [24]byte
		putRemote(b[:], m)
		return append(b[:], more...)
	}
	whole := fabric.Remote{Addr: firstAddr, Len: 64, Key: key}
	put := remote(whole, append(binary.LittleEndian.AppendUint64(nil, 60), 1)...)
	f.Add(frames(header{form: formMessage, more: 2, body: 3}, []byte("hhbbb"), header{form: formPing}, header{form: formPong}, header{form: formBye}))
	f.Add(frames(header{form: formPut, more: 33, body: 4, imm: 5}, put, []byte("putt")))
	f.Add(frames(header{form: formPut, more: 33, body: 5, imm: 5}, put, []byte("puttt")))
	f.Add(frames(header{form: formGet, more: 32, imm: 5}, remote(whole, binary.LittleEndian.AppendUint64(nil, 64)...)))
	f.Add(frames(header{form: formAtomic, more: 41, imm: 5}, remote(whole, append(make([]byte, 16), byte(fabric.FetchAdd))...)))
	f.Add(frames(header{form: formData, more: 8, body: 32, imm: 1 << 32}, make([]byte, 40)))
	f.Add(frames(header{form: formDone, imm: 1 << 32}, header{form: formEnd}))
	f.Add(bytes.Repeat(frames(header{form: formPut, more: 33, imm: 9}, make([]byte, 33)), 200))
	f.Add(bytes.Repeat(frames(header{form: formPing}), 5000))
	f.Fuzz(func(t *testing.T, in []byte) {
		d := &Domain{cfg: fabric.Config{Size: 2}, links: make([]link, 2), eps: make([]*endpoint, 2)}
		d.bell.sockets = -1
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fds[0])
		defer unix.Close(fds[1])
		e := d.endpoint(1)
		c := newConn(e, fds[0], false)
		e.msg = c
		memory := make([]byte, 64+2*64) // with a margin on both sides
		d.regions.register(memory[64:128], fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
		asked := make([]byte, 32+2*64)
		get := d.ops.take(e, opGet, 1)
		get.dst, get.end = asked[64:96:96], 32
		d.ops.take(e, opPut, 2)
		h := &caller{Domain: d, got: make([]int, 2), down: make([]error, 2)}
		trash := make([]byte, 64<<10)
		for !e.doomed && (len(in) > 0 || c.r < c.w) {
			n, _ := unix.SendmsgN(fds[1], in[:min(len(in), 4096)], nil, nil, unix.MSG_DONTWAIT)
			in = in[max(n, 0):]
			took := d.pollConn(c, h, 64)
			d.writeAll()
			unix.Recvfrom(fds[1], trash, unix.MSG_DONTWAIT)
			if cap(c.in) > bufferSize || cap(c.staged) > bufferSize || len(e.badPuts) > maxOps || c.jobs.len() > 2*maxOps || len(d.done) > 2 {
				t.Fatalf("%d bytes of input, %d staged, %d puts, %d jobs, %d completions", cap(c.in), cap(c.staged), len(e.badPuts), c.jobs.len(), len(d.done))
			}
			if took == 0 && len(in) == 0 {
				break // the rest of a frame is missing
			}
		}
		for what, b := range map[string][]byte{"registered": memory, "asked for": asked} {
			if !bytes.Equal(b[:64], make([]byte, 64)) || !bytes.Equal(b[len(b)-64:], make([]byte, 64)) {
				t.Errorf("memory beside what is %s is written", what)
			}
		}
	})
}
