package main

import (
	"slices"

	"github.com/weft-mpi/weft/internal/testkit/killpoint"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi"
)

// state is a state of a protocol between rank 0, the sender, and rank 1, the
// receiver.
type state struct {
	name string
	kill moment
	ways killpoint.Ways
	// fresh: the two have not talked before.
	fresh bool
	// collective: all ranks play all.
	collective bool
	// late: the death comes so late that Finalize may succeed.
	late bool

	pair  [2]func(*player)
	all   func(*player)
	other func(*player) // what ranks 2 and 3 do after the death of one of the pair, if anything
}

// moment is when the victim is killed: at a point of the program, or of the
// traffic with the partner, of one rank.
type moment struct {
	rank  int
	label string
	point killpoint.Point
}

func label(rank int, name string) moment { return moment{rank: rank, label: name} }

func traffic(rank int, e killpoint.Event, kind uint8, nth int) moment {
	return moment{rank: rank, point: killpoint.Point{Event: e, Kind: kind, Nth: nth}}
}

func stateOf(name string) *state {
	if i := slices.IndexFunc(states, func(s state) bool { return s.name == name }); i >= 0 {
		return &states[i]
	}
	return nil
}

// Lengths of messages, in bytes: one that goes at once over every transport, and
// ones that are announced.
const (
	short = 1000
	long  = 200_000
	huge  = 8 << 20
	burst = 8 // messages in a row
)

const enteredBySome = "Finalize entered by some"

// states are the rows of the matrix.
var states = []state{
	{name: "before first contact", fresh: true, kill: label(0, "first"), pair: [2]func(*player){
		func(p *player) {
			p.at("first")
			p.gone()
			p.op("Ssend", fails, func() error { return mpi.Ssend(p.c, pattern(short, 1), 1, tagWork) })
		},
		func(p *player) { p.recv(fails, short, 1, tagWork) },
	}},
	{name: "dial", fresh: true, kill: traffic(0, killpoint.Sending, 0, 1), pair: [2]func(*player){
		func(p *player) { p.ssend(either, short, 1) },
		func(p *player) { p.recv(either, short, 1, tagWork) },
	}},
	{name: "dial from both sides", fresh: true, kill: traffic(0, killpoint.Sending, 0, 1), pair: [2]func(*player){
		dialBoth, dialBoth,
	}},
	{name: "idle, connected", kill: label(0, "idle"), pair: [2]func(*player){
		func(p *player) { p.at("idle") },
		func(p *player) {},
	}},
	{name: "eager sent, not received", kill: traffic(0, killpoint.Sent, wire.Eager, burst), pair: [2]func(*player){
		func(p *player) { p.volley(); p.gone() },
		func(p *player) { p.gone(); p.volleyed(either) },
	}},
	{name: "eager unexpected at its receiver", kill: traffic(1, killpoint.Delivered, wire.Eager, burst), pair: [2]func(*player){
		func(p *player) { p.volley(); p.release() },
		func(p *player) { p.held(); p.volleyed(succeeds) },
	}},
	{name: "receive posted", kill: label(1, "posted"), pair: [2]func(*player){
		func(p *player) { p.gone(); p.ssend(fails, short, 1) },
		func(p *player) {
			b := make([]byte, short)
			r, err := mpi.Irecv(p.c, b, 0, tagWork)
			p.at("posted")
			if st, err := p.wait("Irecv", fails, r, err); err == nil {
				p.check("Irecv", st, b, short, 1, 0)
			}
		},
	}},
	{name: "receive from any source posted", kill: label(1, "posted"), pair: [2]func(*player){
		func(p *player) { p.gone(); p.ssend(fails, short, 1) },
		anySource,
	}, other: func(p *player) {
		if p.Role == sender && p.me == 2 {
			p.op("Send to any source", succeeds, func() error { return mpi.Send(p.c, pattern(short, 1), 1, tagWork) })
		}
	}},
	{name: "probe", kill: label(1, "probing"), pair: [2]func(*player){
		func(p *player) { p.gone(); p.ssend(fails, short, 1) },
		func(p *player) {
			p.at("probing")
			if p.op("Probe", fails, func() error { _, err := mpi.Probe(p.c, 0, tagWork); return err }) == nil {
				p.recv(succeeds, short, 1, tagWork)
			}
		},
	}},
	{name: "mprobe matched, eager", kill: label(1, "matched"), pair: [2]func(*player){
		func(p *player) { p.ssend(fails, short, 1) },
		func(p *player) { p.mprobed(short, succeeds) },
	}},
	{name: "mprobe matched, announced", kill: label(1, "matched"), pair: [2]func(*player){
		func(p *player) { p.ssend(fails, long, 1) },
		func(p *player) { p.mprobed(long, fails) },
	}},
	{name: "synchronous send not acknowledged", kill: traffic(1, killpoint.Delivered, wire.EagerSync, 1), pair: [2]func(*player){
		func(p *player) { p.unanswered(short) },
		func(p *player) { p.held(); p.recv(succeeds, short, 1, tagWork) },
	}},
	{name: "RTS not answered", kill: traffic(1, killpoint.Delivered, wire.RTS, 1), pair: [2]func(*player){
		func(p *player) { p.unanswered(long) },
		func(p *player) { p.held(); p.recv(fails, long, 1, tagWork) },
	}},
	{name: "Get under way", kill: traffic(1, killpoint.Getting, 0, 1), pair: transfer(huge)},
	{name: "CTS sent", ways: killpoint.Fragments, kill: traffic(1, killpoint.Sent, wire.CTS, 1), pair: transfer(long)},
	{name: "fragments under way", ways: killpoint.Fragments, kill: traffic(1, killpoint.Delivered, wire.Data, 2), pair: transfer(huge)},
	{name: "Grant sent", ways: killpoint.Writes, kill: traffic(1, killpoint.Sent, wire.Grant, 1), pair: transfer(long)},
	{name: "Put under way", ways: killpoint.Writes, kill: traffic(0, killpoint.Putting, 0, 1), pair: transfer(huge)},
	{name: "Written outstanding", ways: killpoint.Writes, kill: traffic(0, killpoint.Sending, wire.Written, 1), pair: transfer(long)},
	{name: "FIN outstanding", kill: traffic(1, killpoint.Sending, wire.FIN, 1), pair: [2]func(*player){
		func(p *player) { p.ssend(either, long, 1) },
		func(p *player) { p.recv(succeeds, long, 1, tagWork) },
	}},
	{name: "cancel under way", kill: traffic(1, killpoint.Delivering, wire.Cancel, 1), pair: [2]func(*player){
		cancelling,
		func(p *player) {
			p.held()
			if p.Role != third { // where the message has been withdrawn
				p.recv(either, short, 1, tagWork)
			}
		},
	}},
	{name: "persistent started, eager", kill: traffic(0, killpoint.Sent, wire.Eager, burst/2), pair: persistent(short)},
	{name: "persistent started, announced", kill: traffic(0, killpoint.Sent, wire.RTS, burst/2), pair: persistent(long)},
	{name: "buffered send outstanding", kill: traffic(1, killpoint.Delivered, wire.RTS, 2), pair: [2]func(*player){
		buffered,
		func(p *player) {
			p.held()
			for i := range burst {
				p.recv(fails, long, i, tagWork)
			}
		},
	}},
	{name: "barrier by messages", collective: true, kill: label(1, "outside"), all: func(p *player) {
		p.enter(p.unentered(), p.c.Barrier)
	}},
	{name: "barrier by flags", collective: true, kill: label(1, "outside"), all: func(p *player) {
		for range 3 { // where flags can be used, the third barrier uses them
			p.try("an earlier Barrier", succeeds, p.c.Barrier)
		}
		p.enter(p.unentered(), p.c.Barrier)
	}},
	{name: "dup", collective: true, kill: label(1, "outside"), all: func(p *player) {
		// It is not known to wait for all ranks.
		p.enter(either, func() error { _, err := p.c.Dup(); return err })
	}},
	{name: enteredBySome, collective: true, kill: label(1, "outside"), all: (*player).outside},
	{name: "closing", collective: true, late: true, kill: moment{rank: 1, point: killpoint.Point{Event: killpoint.Closing, Nth: 1}}, all: func(p *player) {
		p.swap(p.partner(), long, 0, tagTalk)
		p.arm()
	}},
}
