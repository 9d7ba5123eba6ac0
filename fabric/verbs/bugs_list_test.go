//go:build bugs

package verbs

import "github.com/weft-mpi/weft/internal/testkit/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// Credit. A sender finds no slot, or waits for one for ever.
	{"a sender goes beyond its window", "fabric/verbs/credit.go",
		"return e.sent-e.acked < e.window\n}\n\n// creditWord", "return e.sent-e.acked <= e.window\n}\n\n// creditWord", "TestASenderStops"},
	{"a word that is half there is read", "fabric/verbs/credit.go",
		"return uint32(word), uint32(word) == uint32(word>>32)", "return uint32(word), true", "TestAHalfWritten"},
	{"credit for what was not sent is believed", "fabric/verbs/credit.go",
		"e.acked > e.sent {\n\t\te.badCredit(e.acked)", "false {\n\t\te.badCredit(e.acked)", "TestALieAboutCredit"},

	// Messages.
	{"a message may end behind its slot", "fabric/verbs/endpoint.go",
		"uint64(headerSize+h)+uint64(b) > uint64(len(m))", "uint64(headerSize+h)+uint64(b) > uint64(len(m)+1)", "TestAMessageEnds"},
	{"each piece of a Put goes to the beginning", "fabric/verbs/onesided.go",
		"lkey, m.Addr+uint64(off), uint32(m.Key), entry{form: formPiece", "lkey, m.Addr, uint32(m.Key), entry{form: formPiece", "TestAMessageComesBehind"},

	// Completions.
	{"what comes before an error ends with it", "fabric/verbs/post.go",
		"if last && err != nil {", "if (last || n >= 0) && err != nil {", "TestWhatWentWell"},

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
	{"a Flush does not wait for stripes", "fabric/verbs/flush.go", "\tif t.before > 0 {\n", "\tif false {\n", "TestAFlushWaits"},
}
