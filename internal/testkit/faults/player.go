package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/killpoint"
	"github.com/weft-mpi/weft/mpi"
)

// Tags.
const (
	tagMeet = iota + 1
	tagWork
	tagGo
	tagTalk
	tagAfter
	tagTold // of a message that never comes
)

// outcome is how an operation may end.
type outcome uint8

const (
	succeeds outcome = iota
	fails            // with ErrProcFailed, naming the dead rank
	either           // it may have been completed before the death
)

// player is a rank in a run.
type player struct {
	spec
	*state
	w      *mpi.World
	c      *mpi.Comm
	me     int
	report report
	struck atomic.Bool
}

// wrong records an outcome that must not be.
func (p *player) wrong(format string, args ...any) {
	p.report.Wrong = append(p.report.Wrong, fmt.Sprintf("rank %d: ", p.me)+fmt.Sprintf(format, args...))
}

// at is a point of the program. A state's kill may be there.
func (p *player) at(label string) {
	if p.kill.label == label && p.kill.rank == p.me {
		p.strike()
	}
}

// arm sets the trap of the state's point, if that is in this rank's traffic.
func (p *player) arm() {
	if k := p.kill; k.rank == p.me && k.point.Event != 0 {
		k.point.Peer = fabric.Peer(p.partner())
		killpoint.Set(k.point, p.strike)
	}
}

// partner is the rank that this one talks to.
func (p *player) partner() int { return p.me ^ 1 }

// strike kills the victim, now or after the seed's delay.
func (p *player) strike() {
	if p.Plant == "unreached" || !p.struck.CompareAndSwap(false, true) {
		return
	}
	do := func() {
		pid := os.Getpid()
		if v := p.victim(); v != p.me {
			pid = p.pid(v)
		}
		if pid > 0 {
			line{Rank: p.me, Killed: now()}.print()
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	if d := p.delay(); d > 0 {
		time.AfterFunc(d, do)
	} else {
		do()
	}
}

func pidFile(dir string, rank int) string { return filepath.Join(dir, fmt.Sprint("pid.", rank)) }

// pid is a rank's process, which has written it down before Init, or 0.
func (p *player) pid(rank int) int {
	b, err := os.ReadFile(pidFile(p.Dir, rank))
	pid, nerr := strconv.Atoi(string(b))
	if err != nil || nerr != nil {
		p.wrong("the process of rank %d is unknown: %v", rank, errors.Join(err, nerr))
		return 0
	}
	return pid
}

// gone waits without a call of MPI until the victim's process has ended. The
// victim itself waits for that for ever.
func (p *player) gone() {
	v := p.victim()
	if v == p.me {
		for {
			time.Sleep(time.Hour)
		}
	}
	fd, err := unix.PidfdOpen(p.pid(v), 0)
	if err != nil {
		return // the launcher has reaped it
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if n > 0 || err != nil && err != unix.EINTR {
			return
		}
	}
}

// op does an operation with the partner, which has to end as want says if the
// partner is the one that dies.
func (p *player) op(name string, want outcome, f func() error) error {
	if p.Role == third && !p.collective {
		want = succeeds
	}
	return p.try(name, want, f)
}

func (p *player) try(name string, want outcome, f func() error) error {
	begin := now()
	err := f()
	p.ended(name, want, begin, err)
	return err
}

// ended judges an operation that has ended.
func (p *player) ended(name string, want outcome, begin int64, err error) {
	switch {
	case errors.Is(err, mpi.ErrProcFailed):
		p.report.Ops = append(p.report.Ops, op{name, begin, now()})
		if want == succeeds {
			p.wrong("%s: %v", name, err)
		} else if !names(err.Error(), p.victim()) {
			p.wrong("%s does not name rank %d: %v", name, p.victim(), err)
		}
	case err != nil:
		p.wrong("%s: %v", name, err)
	case want == fails:
		p.wrong("%s has succeeded without rank %d", name, p.victim())
	}
}

// names reports whether a text names a rank.
func names(text string, rank int) bool {
	word := fmt.Sprint("rank ", rank)
	for {
		_, after, ok := strings.Cut(text, word)
		if !ok {
			return false
		}
		if after == "" || after[0] < '0' || after[0] > '9' {
			return true
		}
		text = after
	}
}

// pattern is n bytes that no other message has.
func pattern(n, id int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8*3 + id*31 + 1)
	}
	return b
}

// check compares a message that has come with the one that was sent.
func (p *player) check(name string, st mpi.Status, got []byte, n, id, source int) {
	want := pattern(n, id)
	if p.Plant == "wrong" && p.me == size-1 {
		got[0]++
	}
	switch {
	case st.Source != source || st.Bytes != uint64(n):
		p.wrong("%s: %d bytes of rank %d have come, want %d of rank %d", name, st.Bytes, st.Source, n, source)
	case !bytes.Equal(got, want):
		p.wrong("%s: message %d of %d bytes from rank %d has other bytes than were sent", name, id, n, source)
	}
}

// recv receives message id of the partner.
func (p *player) recv(want outcome, n, id, tag int) error {
	b := make([]byte, n)
	name := fmt.Sprintf("Recv %d", id)
	var st mpi.Status
	err := p.op(name, want, func() (err error) {
		st, err = mpi.Recv(p.c, b, p.partner(), tag)
		return err
	})
	if err == nil {
		p.check(name, st, b, n, id, p.partner())
	}
	return err
}

// swap exchanges messages with another survivor, or before the death.
func (p *player) swap(with, n, id, tag int) {
	b := make([]byte, n)
	name := fmt.Sprintf("Sendrecv with rank %d", with)
	var st mpi.Status
	err := p.try(name, succeeds, func() (err error) {
		st, err = mpi.Sendrecv(p.c, pattern(n, id+p.me), with, tag, b, with, tag)
		return err
	})
	if err == nil {
		p.check(name, st, b, n, id+with, with)
	}
}

// wait completes a request.
func (p *player) wait(name string, want outcome, r mpi.Request, err error) (st mpi.Status, _ error) {
	err = p.op(name, want, func() error {
		if err == nil {
			st, err = mpi.Wait(&r)
		}
		return err
	})
	return st, err
}

// told receives what the victim does not send.
func (p *player) told() {
	p.try("Recv of the dead", fails, func() error {
		_, err := mpi.Recv(p.c, []byte{0}, p.victim(), tagTold)
		return err
	})
}
