package pt2pt

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// What comes while a blocking receive spins without a request, by each path, is received
// as if it had one.
func TestWhatComesToAReceiveThatSpins(t *testing.T) {
	const other = tag + 1
	imm := wire.Imm(world, tag)
	type scene struct {
		g    *rig
		e    *engine
		peer *raw
		more progress.Handle // of another receive of the same messages
	}
	late := make([]byte, 4)
	for _, c := range []struct {
		name  string
		come  func(*scene)
		want  string // "" for an error
		after func(*scene) error
	}{
		{"one packet", func(s *scene) { s.peer.send(0, wire.Eager, imm, nil, []byte("abcd")) }, "abcd", nil},
		{"nothing but the envelope", func(s *scene) { s.peer.send(0, wire.Eager, imm, nil, nil) }, "", nil},
		{"one packet of a ready send", func(s *scene) { s.peer.send(0, wire.EagerReady, imm, nil, []byte("ab")) }, "ab", nil},
		{"a synchronous one", func(s *scene) { s.peer.send(0, wire.EagerSync, imm, u64s(7), []byte("abc")) }, "abc",
			func(s *scene) error { s.peer.next(wire.FIN); return nil }},
		{"chunks", func(s *scene) {
			s.peer.send(0, wire.EagerFirst, imm, first(6), []byte("abc"))
			s.peer.send(0, wire.EagerMore, 0, nil, []byte("def"))
		}, "abcdef", nil},
		{"other messages first", func(s *scene) {
			s.peer.send(0, wire.Eager, wire.Imm(world, other), nil, []byte("no"))
			s.peer.send(0, wire.Eager, wire.Imm(world+1, tag), nil, []byte("nor"))
			s.peer.send(0, wire.Eager, imm, nil, []byte("ab"))
		}, "ab", func(s *scene) error {
			_, err := s.e.Recv(s.g.ctx, 1, world, other, make([]byte, 2))
			_, err2 := s.e.Recv(s.g.ctx, 1, world+1, tag, make([]byte, 3))
			return errors.Join(err, err2)
		}},
		{"two", func(s *scene) {
			s.peer.send(0, wire.Eager, imm, nil, []byte("ab"))
			s.peer.send(0, wire.Eager, imm, nil, []byte("cd"))
		}, "ab", func(s *scene) error {
			b := make([]byte, 2)
			if _, err := s.e.Recv(s.g.ctx, 1, world, tag, b); err != nil || string(b) != "cd" {
				return errors.Join(err, errors.New("then came "+string(b)))
			}
			return nil
		}},
		{"another receive after it has begun", func(s *scene) {
			s.more = s.e.Irecv(s.g.ctx, 1, world, tag, late) // queued: the caller's goroutine owns the loop
			s.peer.send(0, wire.EagerFirst, imm, first(4), []byte("ab"))
			s.peer.send(0, wire.EagerMore, 0, nil, []byte("cd"))
			s.peer.send(0, wire.Eager, imm, nil, []byte("ef"))
		}, "abcd", func(s *scene) error {
			if res, err := progress.WaitResult(&s.more); err != nil || string(late[:res.Bytes]) != "ef" {
				return errors.Join(err, errors.New("the other got "+string(late)))
			}
			return nil
		}},
		{"the end of its source", func(s *scene) { s.g.net.Kill(1) }, "", nil},
	} {
		for _, layout := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/layout %t", c.name, layout), func(t *testing.T) {
				g := newRig(t, 2)
				s := &scene{g: g, e: g.engine(0), peer: g.raw(1)}
				s.peer.send(0, wire.Eager, imm, nil, nil)
				if _, err := s.e.Recv(g.ctx, 1, world, tag, nil); err != nil {
					t.Fatal(err)
				}
				spun := false
				var before func()
				before = func() { // as the owner
					if s.e.awaited.from == notAwaited {
						s.e.spy.before = before
						return
					}
					spun = true
					c.come(s)
				}
				s.e.own(func() { s.e.spy.before = before })
				b := make([]byte, 8)
				res, err := s.e.receiveAs(g, layout, b)
				if !spun {
					t.Fatal("the receive did not begin without a request")
				}
				switch {
				case c.name == "the end of its source":
					if !errors.Is(err, fabric.ErrPeerDown) {
						t.Errorf("the error is %v", err)
					}
				case err != nil || string(b[:res.Bytes]) != c.want || res.Source != 1 || res.Tag != tag:
					t.Errorf("received %q, %+v, %v", b[:min(res.Bytes, 8)], res, err)
				}
				if c.after != nil {
					s.e.must(c.after(s))
				}
				s.e.clean()
			})
		}
	}
}

// receiveAs receives into b, or into every other byte of some memory, and from there to b.
func (e *engine) receiveAs(g *rig, layout bool, b []byte) (res progress.Result, err error) {
	if !layout {
		return e.Recv(g.ctx, 1, world, tag, b)
	}
	lay := newStrided(len(b), 1, 2)
	if res, err = e.RecvData(g.ctx, 1, world, tag, &Data{Layout: lay, Size: uint64(len(b))}); err == nil {
		err = lay.gaps()
	}
	lay.Pack(b, 0)
	return res, err
}

// A message that is longer than the buffer of a receive that spins is consumed.
func TestALongMessageToAReceiveThatSpins(t *testing.T) {
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	peer.send(0, wire.Eager, wire.Imm(world, tag), nil, nil)
	if _, err := e.Recv(g.ctx, 1, world, tag, nil); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []bool{false, true} {
		e.own(func() { e.spy.before = func() { peer.send(0, wire.Eager, wire.Imm(world, tag), nil, []byte("abc")) } })
		b := make([]byte, 2)
		var long *cause.TruncateError
		if _, err := e.receiveAs(g, layout, b); !errors.As(err, &long) || long.Length != 3 || string(b) != "ab" {
			t.Errorf("received %q, %v", b, err)
		}
		e.clean()
	}
}
