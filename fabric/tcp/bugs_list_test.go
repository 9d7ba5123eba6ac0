//go:build bugs

package tcp

import "github.com/weft-mpi/weft/internal/testkit/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// What is written.
	// A message lands in the middle of bulk data.
	{"what is staged overtakes the rest of a piece", "fabric/tcp/conn.go",
		"case !begun && len(c.staged) > c.sent:", "case len(c.staged) > c.sent:", "TestFramesAreWrittenWhole"},
	{"the next piece begins within a message", "fabric/tcp/conn.go",
		"\t\tcase len(tail) == len(c.tail):\n", "\t\tcase true:\n", "TestFramesAreWrittenWhole"},
	{"the rest of a message that the kernel refuses is lost", "fabric/tcp/endpoint.go",
		"body[n-k:]...)", "body[len(body):]...)", "TestFramesAreWrittenWhole"},
	{"a long message overtakes those that are staged", "fabric/tcp/endpoint.go",
		"if c.flush(); c.clear() {", "if c.flush(); true {", "TestFramesAreWrittenWhole"},
	// Every peer costs memory for good.
	{"an idle connection keeps what it reads into", "fabric/tcp/conn.go",
		"if c.r == c.w && c.in != nil {", "if c.r > c.w {", "TestAnIdleConnection"},

	// What a peer may do.
	// It writes to memory that is the user's again.
	{"pieces of a Get may be more than it", "fabric/tcp/receive.go",
		" || uint64(hd.body) > o.end-o.claimed {", " {", "TestThePiecesOfAGet"},
	{"a piece of a Get may begin anywhere", "fabric/tcp/receive.go",
		"at > size || ", "", "TestThePiecesOfAGet"},
	// It reads or writes what is not registered for it.
	{"a range is checked by its beginning only", "fabric/tcp/regions.go",
		"off > size || m.Len > size-off || n > m.Len", "off > size || n > m.Len || off+n > size", "TestConformance/A_bad_Remote"},
	{"rights are not checked", "fabric/tcp/regions.go",
		"g == nil || g.access&a != a", "g == nil", "TestConformance/A_bad_Remote"},
	{"an old key is good for the next region", "fabric/tcp/regions.go",
		"g.open && g.generation == uint32(key>>32)", "g.open", "TestAnOldKey"},
	{"memory that is taken back is still written", "fabric/tcp/jobs.go",
		"\t\tc.skip, c.into = len(c.into), nil\n", "", "TestMemoryThatIsTakenBack"},

	// TLS.
	// Somebody in the middle reads and changes everything.
	{"the proof over TLS is not checked", "fabric/internal/greet/channel.go",
		"!hmac.Equal(theirs, s.ChannelProof(token, byDialer, c))", "hmac.Equal(theirs, nil)", "TestAManInTheMiddle"},
	// A message arrives with the next one, or never.
	{"what TLS has read is left there", "fabric/tcp/poll.go",
		"c.seal != nil && c.seal.more {", "c.seal != nil && c.seal.more && c.hot {", "TestNothingIsLeftInTLS"},

	// What is told.
	{"a Flush ends before what it flushes", "fabric/tcp/ops.go",
		"f != nil && f.kind == opFlush; f", "f != nil; f", "TestConformance/A_Put_that_was_flushed|TestConformance/NoOps|TestConformance/The_failure"},
	// Whoever waits for the Flush waits for the whole operation instead.
	{"a Flush tells what fails behind it", "fabric/tcp/ops.go",
		"for f := o.next; f != nil; f = f.next {", "for f := e.list.head; f != nil; f = f.next {", "TestAFlushTells"},

	// What is left to others.
	// Frames lie in user space, and the rank sleeps.
	{"connections change their turns as one goes", "fabric/tcp/poll.go",
		"\tif i <= d.turn {\n\t\td.turn--\n\t}\n", "", "TestAPollReads"},
	{"frames that are left are forgotten", "fabric/tcp/poll.go",
		"case n == max:\n", "case n > max:\n", "TestWhatAPollLeaves"},
	// Bytes lie in user space, and the rank sleeps.
	{"what a Put leaves to Poll wakes nobody", "fabric/tcp/endpoint.go",
		"} else if !c.blocked && (!c.clear() || c.jobs.len() > 0) {", "} else if false {", "TestWhatACall"},
	{"a Flush of nothing wakes nobody", "fabric/tcp/endpoint.go",
		"\t\te.quiet = nil\n\t\te.d.rouse()\n", "\t\te.quiet = nil\n", "TestWhatACall"},
	{"the ends of operations wake nobody", "fabric/tcp/close.go",
		"\td.rouse() // the op", "\t// the op", "TestWhatACall"},

	// What a peer that keeps to the protocol suffers.
	{"messages leave no room for replies", "fabric/tcp/endpoint.go",
		"+ 8*headerSize\n", "- 8*headerSize\n", "TestThereIsRoom"},
	{"a refused Get ends before its pieces", "fabric/tcp/receive.go",
		"if o.got == o.end {\n\t\tc.e.d", "if true {\n\t\tc.e.d", "TestARefusal"},
	{"a refusal does not say how much was sent", "fabric/tcp/jobs.go",
		"PutUint64(b[headerSize:], j.at)", "PutUint64(b[headerSize:], 0)", "TestATransferThat"},
	{"a Put that goes nowhere is read in small parts", "fabric/tcp/conn.go",
		"c.skip+headMost", "headMost", "TestABadPut"},

	// What a peer may not do.
	{"a refusal may be of less than has begun", "fabric/tcp/receive.go",
		"sent > o.end || sent < o.claimed", "sent > o.end", "TestARefusal"},
	{"a refusal may be of more than was asked for", "fabric/tcp/receive.go",
		"sent > o.end || sent < o.claimed", "sent < o.claimed", "TestARefusal"},
	{"a Put may end before it is sent", "fabric/tcp/receive.go",
		" || o.kind == opPut && !o.sent {", " {", "TestAPutIsNot"},
	{"a peer that is down holds regions", "fabric/tcp/jobs.go",
		"\tc.cut(0)\n", "", "TestADeadPeer"},

	// Silence, and the end.
	{"a slow link is silence", "fabric/tcp/heartbeat.go",
		"\t\tp.silent = pingAfter\n", "", "TestASlowLink"},
	{"the silence of a mute peer counts", "fabric/tcp/heartbeat.go",
		"if c.e.mute {", "if false {", "TestTheSilence"},
	{"a stop of this process counts", "fabric/tcp/heartbeat.go",
		"case late:", "case late && false:", "TestAfterAStop"},
	{"what the kernel holds unread is silence", "fabric/tcp/heartbeat.go",
		"err == nil && n > 0 {", "err == nil && n < 0 {", "TestAfterAStop"},
	{"a peer that is given up is not told", "fabric/tcp/expelled.go",
		"if d.links[p].over {", "if false {", "TestARankThatAsks"},
	{"Close cuts a piece in two", "fabric/tcp/close.go",
		"c.jobs.headLen > 0 && len(c.head) < c.jobs.headLen", "false", "TestCloseInTheMiddle"},

	// Dialling.
	{"an address that was refused is tried for ever", "fabric/tcp/dial.go",
		"errors.Is(err, unix.ECONNREFUSED) || ", "errors.Is(err, unix.ECONNREFUSED) && false || ", "TestWhichErrors"},
}
