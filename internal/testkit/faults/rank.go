package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/weft-mpi/weft/internal/testkit/killpoint"
	"github.com/weft-mpi/weft/mpi"
)

// playRank is the main program of a rank.
func playRank(text string) error {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	st := stateOf(s.State)
	if st == nil {
		return fmt.Errorf("no state %q", s.State)
	}
	// What the rank leaves to a process that it starts.
	os.Unsetenv(runVar)
	rank := os.Getenv("WEFT_RANK")
	if err := os.WriteFile(s.Dir+"/pid."+rank, []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
		return err
	}
	if n := s.node(int(rank[0] - '0')); n != "" {
		os.Setenv("WEFT_NODE", n)
	}
	killpoint.Choose(st.ways)
	if err := prime(); err != nil {
		return err
	}
	before := inventory()
	before.goroutines++ // ends the process with its launcher, also after Finalize
	w, err := mpi.Init(context.Background(), mpi.WithFabric(s.Fabric))
	if err != nil {
		return err
	}
	p := &player{spec: s, state: st, w: w, c: w.Comm(), me: w.Comm().Rank()}
	p.play()
	p.finalize()
	p.plant()
	p.report.Leaks = leaks(fmt.Sprint("rank ", p.me), before)
	p.report.Addrs = killpoint.Addrs()
	line{Rank: p.me, Report: &p.report}.print()
	return nil
}

// play is a rank between Init and Finalize.
func (p *player) play() {
	if p.collective {
		p.all(p)
		return
	}
	pair := p.me < 2
	if !p.fresh {
		p.meet(pair)
	}
	switch {
	case pair:
		p.begin()
		p.pair[p.me](p)
		if p.Role == third {
			for i := range 3 {
				p.swap(p.partner(), 1<<(6*i+2), i, tagTalk)
			}
		}
		if p.me == p.victim() {
			p.gone()
		}
		p.told()
	case p.Role == third:
		p.told() // rank 2 is killed in it
	default:
		p.stand()
		if p.other != nil {
			p.other(p)
		}
	}
	if p.Plant == "hang" && p.me == size-1 {
		mpi.Recv(p.c, []byte{0}, 2, tagTold)
	}
	p.after()
}

// begin sets the trap. The receiver's is set before the sender goes on.
func (p *player) begin() {
	if p.fresh {
		p.arm()
		return
	}
	p.try("begin", succeeds, func() error {
		if p.me == 1 {
			p.arm()
			return mpi.Send(p.c, []byte{0}, 0, tagMeet)
		}
		_, err := mpi.Recv(p.c, []byte{0}, 1, tagMeet)
		p.arm()
		return err
	})
}

// meet lets the ranks talk that the state is about.
func (p *player) meet(pair bool) {
	if pair {
		p.swap(p.partner(), 100, 0, tagMeet)
	}
	if p.Role != third || p.me == 3 {
		return
	}
	for i := range 3 {
		if i != p.me && (i == 2 || p.me == 2) {
			p.swap(i, 100, 0, tagMeet)
		}
	}
}

// stand is ranks 2 and 3 while one of the pair dies: they talk to each other, and
// go on for a while once rank 2 has been told.
func (p *player) stand() {
	begin, left := now(), -1
	told, err := mpi.Irecv(p.c, []byte{0}, p.victim(), tagTold)
	lengths := [...]int{8, 1000, 20_000, 100_000}
	for i := 0; left != 0; i++ {
		if p.me == 2 {
			done := err != nil
			if left < 0 && !done {
				done, _, err = mpi.Test(&told)
			}
			switch {
			case left > 0:
				left--
			case done:
				p.ended("Irecv of the dead", fails, begin, err)
				left = 8
			}
			if err := mpi.Send(p.c, []int{left}, 3, tagGo); err != nil {
				p.wrong("Send to rank 3: %v", err)
				return
			}
		} else {
			b := []int{0}
			if _, err := mpi.Recv(p.c, b, 2, tagGo); err != nil {
				p.wrong("Recv from rank 2: %v", err)
				return
			}
			left = b[0]
		}
		p.swap(p.partner(), lengths[i%len(lengths)], i, tagTalk)
	}
	if p.me == 3 {
		p.try("Irecv of the dead", fails, func() error {
			if err == nil {
				_, err = mpi.Wait(&told)
			}
			return err
		})
	}
}

// after has each survivor talk to each other one.
func (p *player) after() {
	for other := range size {
		if other == p.me || other == p.victim() {
			continue
		}
		for i, n := range []int{8, 8000, 200_000} {
			p.swap(other, n, i, tagAfter)
		}
	}
}

// finalize leaves the job. A survivor that has failed because of the death leaves
// without waiting for the others, so the error may name that one.
func (p *player) finalize() {
	begin, want := now(), fails
	switch {
	case p.late:
		want = either
	case p.name == enteredBySome:
		want = p.unentered()
	}
	err := p.w.Finalize()
	switch {
	case errors.Is(err, mpi.ErrProcFailed):
		p.report.Ops = append(p.report.Ops, op{"Finalize", begin, now()})
	case err != nil || want == fails:
		p.wrong("Finalize without rank %d: %v", p.victim(), err)
	}
	if p.me == p.victim() || p.kill.rank == p.me {
		p.gone() // not before the kill, which may be delayed
	}
}

// plant is a fault of the last rank's own, for the tests of this command.
func (p *player) plant() {
	if p.me != size-1 {
		return
	}
	switch p.Plant {
	case "descriptor":
		syscall.Open(os.DevNull, syscall.O_RDONLY, 0)
	case "goroutine":
		go func() { select {} }()
	case "shm":
		os.WriteFile(plantedShm, nil, 0o600)
	case "process":
		c := exec.Command("sleep", "1000")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c.Start()
	}
}
