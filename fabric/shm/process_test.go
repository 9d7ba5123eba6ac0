package shm

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// Tests with a peer in another process: the test binary is started as rank 1 of a
// job of two, plays a role until it is in the middle of something, says so, and
// stays there until it is killed.

// roleVar names the role, jobVar the job and the address of rank 0.
const (
	roleVar = "WEFT_SHM_TEST_ROLE"
	jobVar  = "WEFT_SHM_TEST_JOB"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
}

// hears is the handler of a role: it counts messages.
type hears int

func (h *hears) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { *h++ }
func (h *hears) Complete(fabric.Op, error)                          {}
func (h *hears) PeerDown(fabric.Peer, error)                        {}

func play(role string) error {
	go func() { // no longer than the test
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	job, addr, _ := strings.Cut(os.Getenv(jobVar), " ")
	od, err := Provider{}.Open(fabric.Config{Rank: 1, Size: 2, Job: job, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	d, h := od.(*Domain), new(hears)
	memory := bytes.Repeat([]byte{7}, 1<<20)
	reg, err := d.Register(memory, fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		return err
	}
	fmt.Println(d.addr)
	fmt.Println(reg.Addr)
	ep, err := d.Connect(0, []byte(addr))
	if err != nil {
		return err
	}
	for sent := false; !sent || *h == 0; d.Poll(h, 64) {
		sent = sent || ep.Send(1, 0, nil, nil) == nil
	}
	switch role {
	case "helper":
		for len(d.helps) == 0 {
			d.Poll(h, 1)
		}
		j := d.helps[0]
		atomic.AddUint64(slotWord(j.mem, j.slot, coopClaims), 1)
	case "writer":
		if e := ep.(*endpoint); !mayWrite(e.tx.mem, e.info) {
			return errors.New("rank 0 has left")
		}
	}
	fmt.Println("there")
	select {}
}

// played is rank 0 of such a job.
type played struct {
	n      *node
	ep     fabric.Endpoint // to the peer
	memory fabric.Remote   // the peer's
	log    *records
	cmd    *exec.Cmd
	gets   int
}

// startRole returns when the peer is where its role leads to, and stopped; a target
// only has memory, and is not.
func startRole(t *testing.T, role string) *played {
	t.Helper()
	p := &played{log: new(records)}
	job := rand.Text()
	p.n = newNode(t, openOne(t, fabric.Config{Rank: 0, Size: 2, Job: job, Log: slog.New(slog.NewTextHandler(p.log, nil))}))
	if qemu != "" {
		refusesCMA(t) // which is how the roles copy
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), roleVar+"="+role, jobVar+"="+job+" "+p.n.d.addr)
	p.cmd.Stderr = os.Stderr
	_, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(out)
	line := func() string {
		if !lines.Scan() {
			t.Fatalf("the %s says nothing", role)
		}
		return lines.Text()
	}
	addr := line()
	at, err := strconv.ParseUint(line(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p.memory = fabric.Remote{Addr: at, Len: 1 << 20}
	ep, err := p.n.d.Connect(1, []byte(addr))
	if err != nil {
		t.Fatal(err)
	}
	p.ep = ep
	sent := false
	waitFor(t, "messages both ways", func() bool {
		p.n.d.Poll(p.n, 64)
		sent = sent || ep.Send(1, 0, nil, nil) == nil
		return sent && len(p.n.got) > 0
	})
	if role == "helper" {
		needCMA(t, p.n)
		if err := ep.Get(fabric.Segment{Bytes: make([]byte, 1<<20)}, p.memory, 1); err != nil {
			t.Fatal(err)
		}
		p.gets = 1
		if p.n.d.jobs[0].start(); p.n.d.jobs[0].coop < 0 {
			t.Fatal("nobody is asked for help")
		}
	}
	if line() != "there" {
		t.Fatalf("the %s is not there", role)
	}
	if role == "target" {
		return p
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *played) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func TestCloseWaitsForAStoppedProcessUntilItsDeath(t *testing.T) {
	instead(t, &sayAfter, 0)
	for _, role := range []string{"helper", "writer"} {
		t.Run(role, func(t *testing.T) {
			p := startRole(t, role)
			var dead atomic.Bool
			closed := make(chan bool)
			go func() {
				p.n.d.Close()
				closed <- dead.Load()
			}()
			waitFor(t, "Close to say whom it waits for", func() bool {
				return strings.Contains(p.log.String(), fmt.Sprintf("process=%d", p.cmd.Process.Pid))
			})
			dead.Store(true)
			p.kill()
			if !<-closed {
				t.Error("Close returned while the peer was in the middle of a copy")
			}
		})
	}
}

func TestEndWaitsForAStoppedProcessUntilItsDeath(t *testing.T) {
	for _, role := range []string{"helper", "writer"} {
		t.Run(role, func(t *testing.T) {
			p := startRole(t, role)
			if !p.n.d.End(1, fabric.ErrPeerDown) {
				t.Fatal("there is nothing to end")
			}
			for range 1000 {
				p.n.d.Poll(p.n, 64)
			}
			if len(p.n.done) > 0 || p.n.down[1] != nil {
				t.Fatalf("%d operations and the peer (%v) have ended in the middle of a copy", len(p.n.done), p.n.down[1])
			}
			p.kill()
			waitFor(t, "PeerDown", func() bool { p.n.d.Poll(p.n, 64); return p.n.down[1] != nil })
			if len(p.n.done) != p.gets {
				t.Errorf("%d operations have ended, want %d", len(p.n.done), p.gets)
			}
		})
	}
}
