package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/progress/counters"
)

// Paths of a message: the values of Request.Path of a send.
const (
	pathNone uint8 = iota // of a buffered send: its copy has one
	pathEager
	pathChunks
	pathGet
	pathPut
	pathFrags
	pathSelf
	pathKinds
)

// pathNames are the values of the label protocol.
var pathNames = [pathKinds]string{pathEager: "eager", pathChunks: "chunks", pathGet: "get", pathPut: "put", pathFrags: "fragments", pathSelf: "self"}

// pathOf is the path of a send by its first step, as far as it is known then:
// the receiver of an announced message decides.
var pathOf = [...]uint8{stepEager: pathEager, stepSync: pathEager, stepChunks: pathChunks, stepRTS: pathGet}

// tally counts messages by their length, and the bytes of them: two additions for
// each message. The number of messages is a sum.
type tally = counters.Histogram

// traffic is what a transport has moved, by path. The owner adds to it with
// plain stores.
type traffic struct {
	sample         fabric.Peer // a peer reached over it
	sent, received [pathKinds]tally
}

// waited is how long sends may have waited for what their peers accept.
type waited struct {
	announce, hold   *counters.Stopwatch
	announces, holds int // peers that accept announcements only, or nothing
}

// moves counts a peer that goes from one level to another.
func (w *waited) moves(from, to wire.Level) {
	for _, l := range []struct {
		level wire.Level
		peers *int
		watch *counters.Stopwatch
	}{{wire.Announce, &w.announces, w.announce}, {wire.Hold, &w.holds, w.hold}} {
		if from == l.level {
			*l.peers--
		}
		if to == l.level {
			*l.peers++
		}
		l.watch.Set(*l.peers > 0)
	}
}

// Describe says what a request is. Its state is that of Pending.
func (e *Engine) Describe(r *progress.Request, _ bool) (i progress.Info) {
	i.Context, i.Tag = wire.Match(r.Imm)
	switch r.Kind {
	case kindSend:
		i.Class, i.Message = "send", true
	case kindRecv, kindMrecv:
		i.Class, i.Message = "receive", r.Kind == kindRecv
	case kindProbe, kindMprobe:
		i.Class, i.Message = "probe", true
	default:
		i.Class = "other"
	}
	return i
}

// Observe adds the engine's counts to a snapshot.
func (e *Engine) Observe(s *counters.Snapshot) {
	labels := []string{"transport", "protocol", "direction"}
	messages := counters.Family{Name: "weft_messages_total", Help: "Messages whose bytes have moved.", Labels: labels}
	bytes := counters.Family{Name: "weft_bytes_total", Help: "Bytes of messages that have moved, as sent.", Unit: "bytes", Labels: labels}
	sizes := counters.Family{Name: "weft_message_size_bytes", Help: "Lengths of messages whose bytes have moved.", Unit: "bytes", Labels: []string{"transport", "direction"}}
	for _, sum := range e.traffic {
		name := e.loop.TransportOf(sum.sample)
		for _, way := range []struct {
			name  string
			paths *[pathKinds]tally
		}{{"sent", &sum.sent}, {"received", &sum.received}} {
			all := tally{}
			for p := pathEager; p < pathKinds; p++ {
				t := &way.paths[p]
				if n := t.Count(); n > 0 {
					s.Add(messages, n, name, pathNames[p], way.name)
					s.Add(bytes, t.Sum, name, pathNames[p], way.name)
					all.Join(t)
				}
			}
			if all.Count() > 0 {
				s.AddHistogram(sizes, &all, name, way.name)
			}
		}
	}
	s.Add(progress.BackpressureFamily, e.waited.announce.Nanoseconds(), "announce")
	s.Add(progress.BackpressureFamily, e.waited.hold.Nanoseconds(), "hold")
	s.Add(counters.Family{Name: "weft_match_probes_total", Help: "Slots of the tables of receives and messages that were looked at, without look-ups that end at their first one."}, e.match.Probes())
	gauge := func(name, help, unit string, v uint64) {
		s.Add(counters.Family{Name: name, Help: help, Unit: unit, Gauge: true}, v)
	}
	gauge("weft_posted_receives", "Receives that no message has matched.", "", uint64(e.match.Posted()))
	gauge("weft_unexpected_messages", "Messages that no receive has asked for.", "", uint64(e.match.Unexpected()))
	gauge("weft_unexpected_bytes", "Bytes kept of messages that no receive has asked for.", "bytes", e.held.bytes)
	gauge("weft_unexpected_messages_max", "The most messages at once that no receive had asked for.", "", uint64(e.held.mostMessages))
	gauge("weft_unexpected_bytes_max", "The most bytes at once of messages that no receive had asked for.", "bytes", e.held.mostBytes)
	gauge("weft_peers_held", "Peers that were told to send nothing.", "", uint64(e.held.stopped))
	s.Add(counters.Family{Name: "weft_dropped_messages_total", Help: "Messages that no receive had taken when their communicator was freed, or that came for a freed one."},
		e.contexts.dropped)
	rendezvous := [2]uint64{}
	e.loop.Each(e, func(r *progress.Request) {
		switch r.Step {
		case stepAwait, stepPut, stepPutting, stepFrags:
			rendezvous[0]++
		case stepGet, stepGetting, stepGranted, stepData:
			rendezvous[1]++
		}
	})
	f := counters.Family{Name: "weft_rendezvous", Help: "Announced messages under way, and synchronous sends that wait.", Gauge: true, Labels: []string{"direction"}}
	s.Add(f, rendezvous[0], "sent")
	s.Add(f, rendezvous[1], "received")
}
