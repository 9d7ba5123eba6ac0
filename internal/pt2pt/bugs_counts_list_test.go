//go:build bugs

package pt2pt

import "github.com/weft-mpi/weft/internal/testkit/planted"

// The tests that find the bugs of countBugs.
const (
	counted = "TestMessagesAreCountedByTheirPath"
	gauged  = "TestGaugesShowWhatWaits"
	clocked = "TestTheTimeOfEachLevelIsCounted"
)

// countBugs are those that make a counter wrong and change nothing else.
var countBugs = planted.List{
	{"a short send without a request is not counted", "internal/pt2pt/send.go",
		"p.traffic.sent[pathEager].Add(uint64(len(b)))%lookEvery", "p.traffic.sent[pathNone].Add(uint64(len(b)))%lookEvery", counted},
	{"a send with a request is not counted", "internal/pt2pt/send.go",
		"\t\te.peers[r.Peer].traffic.sent[r.Path].Add(r.Size())\n", "", counted},
	{"a send with a request is counted twice", "internal/pt2pt/send.go",
		"\t\te.peers[r.Peer].traffic.sent[r.Path].Add(r.Size())\n", "\t\te.peers[r.Peer].traffic.sent[r.Path].Add(r.Size())\n\t\te.peers[r.Peer].traffic.sent[r.Path].Add(r.Size())\n", counted},
	{"a buffered send counts beside its copy", "internal/pt2pt/send.go",
		"if err == nil && r.Path != pathNone {", "if err == nil {\n\t\tr.Path = max(r.Path, pathEager)", counted},
	{"a short message that has come is counted as sent", "internal/pt2pt/eager.go",
		"traffic.received[pathEager].Add(", "traffic.sent[pathEager].Add(", counted},
	{"an unexpected short message is not counted", "internal/pt2pt/eager.go",
		"\te.peers[from].traffic.received[pathEager].Add(uint64(len(body)))\n", "\tif e.match.Posted() > 0 {\n\t\te.peers[from].traffic.received[pathEager].Add(uint64(len(body)))\n\t}\n", counted},
	{"each chunk is counted", "internal/pt2pt/chunks.go",
		"\tif in.got < in.total {\n\t\treturn true\n", "\tif in.got < in.total {\n\t\te.peers[from].traffic.received[pathChunks].Add(uint64(len(body)))\n\t\treturn true\n", counted},
	{"the bytes of chunks are those of the last", "internal/pt2pt/chunks.go",
		"received[pathChunks].Add(in.total)", "received[pathChunks].Add(uint64(len(body)))", counted},
	{"a Get is not counted", "internal/pt2pt/rndv_get.go",
		"\te.peers[r.Peer].traffic.received[pathGet].Add(r.Length)\n", "", counted},
	{"a message that was put counts as got", "internal/pt2pt/rndv_put.go",
		"received[pathPut].Add(", "received[pathGet].Add(", counted},
	{"the bytes of fragments are those of the last", "internal/pt2pt/rndv_frag.go",
		"received[pathFrags].Add(r.Length)", "received[pathFrags].Add(uint64(len(body)))", counted},
	{"a message to itself is counted as short", "internal/pt2pt/self.go",
		"received[pathSelf].Add(", "received[pathEager].Add(", counted},
	{"what was sent is shown as received", "internal/pt2pt/counts.go",
		`{"sent", &sum.sent}, {"received", &sum.received}`, `{"sent", &sum.received}, {"received", &sum.sent}`, counted},
	{"the bytes are those of messages", "internal/pt2pt/counts.go",
		"s.Add(bytes, t.Sum, name", "s.Add(bytes, n, name", counted},

	{"the high-water mark of bytes is forgotten", "internal/pt2pt/flow.go",
		"e.held.mostBytes = max(e.held.mostBytes, e.held.bytes)", "e.held.mostBytes = e.held.bytes - a.total", gauged},
	{"the high-water mark of messages is that of the last one", "internal/pt2pt/flow.go",
		"e.held.mostMessages = max(e.held.mostMessages, e.held.messages)", "e.held.mostMessages = 1", gauged},
	{"the high-water mark falls with what is held", "internal/pt2pt/flow.go",
		"\te.held.messages--\n\te.held.taken++\n", "\te.held.messages--\n\te.held.mostMessages--\n\te.held.taken++\n", gauged},
	{"bytes that were received stay unexpected", "internal/pt2pt/flow.go",
		"\t\te.held.bytes -= a.total\n", "", gauged},
	{"the level of a peer is not left", "internal/pt2pt/counts.go",
		"\t\tif from == l.level {\n\t\t\t*l.peers--\n\t\t}\n", "", clocked},
	{"the second peer of a level ends its time", "internal/pt2pt/counts.go",
		"l.watch.Set(*l.peers > 0)", "l.watch.Set(*l.peers == 1)", clocked},
	{"the times of two levels are swapped", "internal/pt2pt/counts.go",
		"{{wire.Announce, &w.announces, w.announce}, {wire.Hold, &w.holds, w.hold}}", "{{wire.Hold, &w.announces, w.announce}, {wire.Announce, &w.holds, w.hold}}", clocked},
}
