//go:build bugs

package verbs

import "github.com/weft-mpi/weft/internal/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// Credit. A sender finds no slot, or waits for one for ever.
	{"a slot is counted twice", "fabric/verbs/credit.go", "\te.taken++\n", "\te.taken += 2\n", "TestOrderUnder"},
	{"a sender goes beyond its window", "fabric/verbs/credit.go",
		"return e.sent-e.acked < e.window\n}\n\n// creditWord", "return e.sent-e.acked <= e.window\n}\n\n// creditWord", "TestASenderStops"},
	{"a word that is half there is read", "fabric/verbs/credit.go",
		"return uint32(word), uint32(word) == uint32(word>>32)", "return uint32(word), true", "TestAHalfWritten"},
	{"a note takes no credit", "fabric/verbs/onesided.go",
		"if err == nil && note != 0 {\n\t\te.sent++", "if err == nil && note == 0 {\n\t\te.sent++", "TestOrderUnder"},
	{"credit for what was not sent is believed", "fabric/verbs/credit.go",
		"e.acked > e.sent {\n\t\te.badCredit(e.acked)", "false {\n\t\te.badCredit(e.acked)", "TestALieAboutCredit"},

	// Messages.
	{"the second message of a SEND is lost", "fabric/verbs/coalesce.go",
		"if n = aligned(n); n < len(p.rest) {", "if n = aligned(n); n < 0 {", "TestOrderUnder"},
	{"a message may end behind its slot", "fabric/verbs/endpoint.go",
		"uint64(headerSize+h)+uint64(b) > uint64(len(m))", "uint64(headerSize+h)+uint64(b) > uint64(len(m)+1)", "TestAMessageEnds"},
	{"a note comes with each piece", "fabric/verbs/onesided.go",
		"uint32(m.Key), 0, entry{form: formPiece", "uint32(m.Key), note, entry{form: formPiece", "TestANoteComes"},
	{"a note comes with the first piece", "fabric/verbs/onesided.go",
		"\toff := 0\n", "\toff := 0\n\tfirst := note\n\tif n > piece {\n\t\tnote = 0\n\t\te.piece(verb, nil, lkey, m.Addr, uint32(m.Key), first, entry{slot: -1})\n\t}\n", "TestANoteComes"},
	{"a note of 0 is told", "fabric/verbs/poll.go", "case c.WithImm() && c.Imm() == 0:", "case false:", "TestANoteOfZero"},

	// Completions.
	{"what comes before an error ends with it", "fabric/verbs/post.go",
		"if last && err != nil {", "if err != nil {", "TestWhatWentWell"},
	{"the result of an Atomic is not fetched", "fabric/verbs/post.go",
		"\t\t*w.result = loadWord(d.slot(uint32(w.slot)), 0)\n", "", "TestConformanceOnAFakeDevice$/^FetchAdd"},
	{"the error of a piece is forgotten", "fabric/verbs/post.go",
		"\t\tif e.lost == nil {\n\t\t\te.lost = err\n", "\t\tif e.lost != nil {\n\t\t\te.lost = err\n", "TestTheErrorOfAPiece"},

	// One-sided operations.
	{"the end of the peer's memory is not looked at", "fabric/verbs/internal/pin/key.go",
		"return n <= m.Len && m.Addr+m.Len >= m.Addr", "return m.Addr+m.Len >= m.Addr", "TestARepeatedTransferIsChecked"},
	{"a transfer may go around the address space", "fabric/verbs/internal/pin/key.go",
		"return n <= m.Len && m.Addr+m.Len >= m.Addr", "return n <= m.Len", "TestARepeatedTransferIsChecked"},
	{"a key of another rank is used", "fabric/verbs/onesided.go",
		"\tif !e.sign.Made(key) {\n", "\tif key == 0 {\n", "TestARepeatedTransferIsChecked"},
	{"a stripe goes beyond the end", "fabric/verbs/stripe.go",
		"for end := min(off+share, n); off < end; {", "for end := off + share; off < end; {", "TestStripesMakeAWhole"},
	{"an operation ends with its first stripe", "fabric/verbs/stripe.go",
		"if t.left--; t.left > 0 {", "if t.left--; t.left > 1 {", "TestAFlushWaits|TestStripesMakeAWhole"},

	// Flush.
	{"a Flush is a WRITE", "fabric/verbs/flush.go",
		"s.Opcode, s.RemoteAddr, s.RKey = ibv.RDMARead, e.creditAddr", "s.Opcode, s.RemoteAddr, s.RKey = ibv.RDMAWrite, e.creditAddr", "TestWhatWasFlushed"},
	{"a Flush leaves the further queue pairs out", "fabric/verbs/flush.go",
		"case !r.wrote || r.qp", "case r.wrote || r.qp", "TestWhatWasFlushed"},
	{"a Flush does not wait for stripes", "fabric/verbs/flush.go", "\tif t.before > 0 {\n", "\tif false {\n", "TestAFlushWaits"},
	{"the failure of a NoOp is forgotten", "fabric/verbs/flush.go",
		"\t\te.unsaid, e.unsaidOf = err, number\n", "", "TestTheRefusalOfANoOp"},
	{"the failure of a NoOp is told again", "fabric/verbs/flush.go",
		"\t\te.unsaid = nil\n\t}\n\treturn", "\t}\n\treturn", "TestTheRefusalOfANoOp"},

	// Memory that the device still has is used again.
	{"what the device keeps is let go of", "fabric/verbs/internal/pin/regions.go",
		"\t\tkeep(e.mem)\n", "", "TestMemoryThatIsNotDeregistered"},
}
