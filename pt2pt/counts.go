package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
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

// tally counts messages and their bytes.
type tally struct{ messages, bytes uint64 }

func (t *tally) add(bytes uint64) {
	t.messages++
	t.bytes += bytes
}

// traffic is what a transport has moved, by path. The owner adds to it with
// plain stores. Eager messages that have arrived are counted by peer, which
// touches one cache line less for each.
type traffic struct {
	sample         fabric.Peer // a peer reached over it
	sent, received [pathKinds]tally
}

// Observe adds the engine's counts to a snapshot.
func (e *Engine) Observe(s *progress.Snapshot) {
	labels := []string{"transport", "protocol", "direction"}
	messages := progress.Family{Name: "weft_messages_total", Help: "Messages whose bytes have moved.", Labels: labels}
	bytes := progress.Family{Name: "weft_bytes_total", Help: "Bytes of those messages, as sent.", Unit: "bytes", Labels: labels}
	for _, sum := range e.traffic {
		name, t := e.loop.TransportOf(sum.sample), *sum
		for i := range e.peers {
			if p := &e.peers[i]; p.traffic == sum {
				t.received[pathEager].messages += p.eager.messages
				t.received[pathEager].bytes += p.eager.bytes
			}
		}
		for p := pathEager; p < pathKinds; p++ {
			for _, way := range []struct {
				name string
				*tally
			}{{"sent", &t.sent[p]}, {"received", &t.received[p]}} {
				if way.messages > 0 {
					s.Add(messages, way.messages, name, pathNames[p], way.name)
					s.Add(bytes, way.bytes, name, pathNames[p], way.name)
				}
			}
		}
	}
	gauge := func(name, help, unit string, v uint64) {
		s.Add(progress.Family{Name: name, Help: help, Unit: unit, Gauge: true}, v)
	}
	gauge("weft_posted_receives", "Receives that no message has matched.", "", uint64(e.match.Posted()))
	gauge("weft_unexpected_messages", "Messages that no receive has asked for.", "", uint64(e.match.Unexpected()))
	gauge("weft_unexpected_bytes", "Bytes kept of those.", "bytes", e.held.bytes)
	gauge("weft_unexpected_messages_max", "The most of them there have been.", "", uint64(e.held.mostMessages))
	gauge("weft_unexpected_bytes_max", "The most bytes of them there have been.", "bytes", e.held.mostBytes)
	gauge("weft_peers_held", "Peers that were told to send nothing.", "", uint64(e.held.stopped))
	s.Add(progress.Family{Name: "weft_dropped_messages_total", Help: "Messages that no receive had taken when their communicator was freed, or that came for a freed one."},
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
	f := progress.Family{Name: "weft_rendezvous", Help: "Announced messages under way, and synchronous sends that wait.", Gauge: true, Labels: []string{"direction"}}
	s.Add(f, rendezvous[0], "sent")
	s.Add(f, rendezvous[1], "received")
}
