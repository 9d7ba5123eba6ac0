package ibv

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

// openDevice opens port 1 of the first device with its highest GID, or skips the
// test where no device has to be.
func openDevice(t *testing.T) (x *Context, a Attr, gid [16]byte) {
	t.Helper()
	dirs, _ := filepath.Glob("/sys/class/infiniband/*")
	if os.Getenv("WEFT_ROCE") == "" {
		t.Skip("scripts/roce runs this test in a guest that has a device")
	}
	if err := Load(); err != nil || len(dirs) == 0 {
		t.Fatalf("WEFT_ROCE is set, and there are the devices %v; %v", dirs, err)
	}
	device, index := filepath.Base(dirs[0]), -1
	for i := range 16 {
		b, err := os.ReadFile(filepath.Join(dirs[0], "ports/1/gids", string("0123456789abcdef"[i])))
		g, herr := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(b)), ":", ""))
		if err == nil && herr == nil && !bytes.Equal(g, make([]byte, 16)) {
			gid, index = [16]byte(g), i
		}
	}
	a, err := Query(device, 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err = Open(Options{Device: device, Port: 1, GIDIndex: index, Global: true, SRQDepth: 16, RecvCQE: 32, SendCQE: 32,
		SendDepth: 16, Inline: 64, AckTimeout: 15, AckRetries: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return x, a, gid
}

// What is posted on one queue pair of a port arrives at the other.
func TestTwoQueuePairsOfAPort(t *testing.T) {
	x, a, gid := openDevice(t)
	mem, err := Map(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer Unmap(mem)
	m, err := x.RegMR(Addr(mem), len(mem), LocalWrite|RemoteRead|RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.DeregMR(m); err != nil {
			t.Errorf("DeregMR: %v", err)
		}
	}()
	var qs [2]QP
	for i := range qs {
		if qs[i], _, err = x.CreateQP(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := x.DestroyQP(qs[i]); err != nil {
				t.Errorf("DestroyQP: %v", err)
			}
		}()
	}
	for i, q := range qs {
		err := x.ConnectQP(q, Path{QPNum: qs[1-i].Num, PSN: uint32(1 + i), MyPSN: uint32(2 - i), GID: gid, LID: a.LID, MTU: a.MTU, Reads: 1, Answers: 1})
		if err != nil {
			t.Fatal(err)
		}
	}
	x.SetSlots(Addr(mem[1024:]), 64, m.LKey)
	r := x.Rings()
	r.Recvs[0], r.Recvs[1] = 0, 1
	if p := x.PostPoll(0, 2, 0, 0, 1); !p.OK() {
		t.Fatal(p.Err())
	}
	copy(mem, "sent as a SEND")
	for i, op := range []Opcode{Send, RDMAWriteWithImm, RDMARead} {
		s := r.Sends[i].Reset()
		s.QP, s.ID, s.Opcode, s.Flags = qs[0].Handle, uint64(i), op, Signaled
		s.RemoteAddr, s.RKey = Addr(mem[2048:]), m.RKey
		s.NumSGE, s.SGE[0] = 1, SGE{Addr: Addr(mem), Length: 14, LKey: m.LKey}
		switch op {
		case RDMAWriteWithImm:
			s.SetOwn(42)
			s.ImmData = [4]byte{7}
		case RDMARead:
			s.SGE[0] = SGE{Addr: Addr(mem[3072:]), Length: 8, LKey: m.LKey}
		}
	}
	sends, recvs, end := 0, 0, time.Now().Add(patience)
	for p := x.PostPoll(3, 0, MaxWC, MaxWC, 1); sends < 3 || recvs < 2; p = x.PostPoll(0, 0, MaxWC, MaxWC, 16) {
		if !p.OK() || time.Now().After(end) {
			t.Fatalf("%d sends and %d receives have ended; %d are refused, %v", sends, recvs, p.Refused(), p.Err())
		}
		for _, c := range r.SendWC[:p.Sends()] {
			if c.Status != Success || c.ID != uint64(sends) {
				t.Fatalf("send %d: %+v", sends, c)
			}
			sends++
		}
		for _, c := range r.RecvWC[:p.Recvs()] {
			if c.Status != Success || c.QPNum != qs[1].Num || c.ID != uint64(recvs) || c.WithImm() != (recvs == 1) || c.WithImm() && c.ImmData != [4]byte{7} {
				t.Fatalf("receive %d: %+v", recvs, c)
			}
			recvs++
		}
	}
	if got := string(mem[1024:][:14]); got != "sent as a SEND" {
		t.Errorf("the slot has %q", got)
	}
	if !bytes.Equal(mem[2048:2056], mem[3072:3080]) || mem[2048] == 0 && mem[2055] == 0 {
		t.Errorf("written % x, read % x", mem[2048:2056], mem[3072:3080])
	}
}

// A device that is not there is an error that names the call.
func TestADeviceThatIsNotThere(t *testing.T) {
	if _, err := Open(Options{Device: "none"}); err == nil {
		t.Error("it is opened")
	}
	if _, err := Query("none", 1); err == nil {
		t.Error("it is asked")
	}
}
