//go:build bugs

package greet

import "github.com/weft-mpi/weft/internal/testkit/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// A process that is not of the job is told where memory lies.
	{"the listener checks no proof", "fabric/internal/greet/exchange.go",
		"if !hmac.Equal(theirs, s.proof(token, dialer, you, me)) {", "if len(theirs) != proofSize {", "TestAProof"},
	{"the dialer checks no proof", "fabric/internal/greet/exchange.go",
		"case !hmac.Equal(b[greetingSize:], s.proof(token, listener, me, you)):", "case len(b) < greetingSize:", "TestWhoIsNot|TestAProof"},
	{"a proof is good for either side", "fabric/internal/greet/greeting.go",
		"[][]byte{[]byte(role), []byte(s.Job)", "[][]byte{[]byte(s.Job)", "TestAProof"},
	{"a proof leaves the listener's greeting out", "fabric/internal/greet/greeting.go",
		"dialer, listener} {", "dialer, listener[:20]} {", "TestAProof"},
	{"a proof leaves the dialer's greeting out", "fabric/internal/greet/greeting.go",
		"dialer, listener} {", "dialer[:20], listener} {", "TestAProof"},
	{"every greeting has one nonce", "fabric/internal/greet/greeting.go",
		"\trand.Read(n[:])\n", "\t_ = rand.Read\n", "TestAProof"},
	// Ranks that do not understand one another, or are the same, connect.
	{"another version is greeted", "fabric/internal/greet/greeting.go",
		"binary.LittleEndian.Uint32(o.b[8:]) != g.self.Version:", "binary.LittleEndian.Uint32(o.b[8:]) > g.self.Version+1:", "TestAGate"},
	{"another version is dialled", "fabric/internal/greet/greeting.go",
		"\tcase s.Version:\n", "\tcase s.Version, s.Version + 1:\n", "TestTheDialer"},
	{"a gate takes any cookie", "fabric/internal/greet/greeting.go",
		"sum[:cookieSize], o.b[cookieAt:]", "sum[:cookieSize], sum[:cookieSize]", "TestAGate"},
	{"the job's key is not used", "fabric/internal/greet/greeting.go",
		"if s.Key != (Key{}) {", "if false {", "TestTheKey"},
	{"an opening for another rank is answered", "fabric/internal/greet/exchange.go",
		"to != s.Rank {", "to > s.Size {", "TestAnOpening"},
	{"a rank greets itself", "fabric/internal/greet/exchange.go",
		" || rank == s.Rank {", " {", "TestWhoIsNot"},
	{"another rank than the one that was dialled is greeted", "fabric/internal/greet/exchange.go",
		"case rank != peer || size != s.Size:", "case size != s.Size:", "TestTheDialer"},
	// Strangers take memory, descriptors and time without end.
	{"any number of strangers is listened to", "fabric/internal/greet/serve.go",
		"\t\t\tconn.Close()\n\t\t\treturn\n", "\t\t\tgo func() { busy <- struct{}{} }()\n", "TestTooMany"},
	{"a stranger may take any time", "fabric/internal/greet/serve.go",
		"\tconn.SetDeadline(time.Now().Add(limit))\n", "\t_ = limit\n", "TestAGreetingHasItsLimit"},
	{"the newest stranger is hung up, not the oldest", "fabric/internal/greet/places.go",
		"p.list[0].Close()\n\t\tp.list[0].in = nil\n", "g.Close()\n\t\tp.list[0].in = nil\n", "TestTheOldest"},
	{"a stranger may take any time for its opening", "fabric/internal/greet/doors.go",
		"Bound(ctx, g, StrangeLimit)", "Bound(ctx, g, 100*StrangeLimit)", "TestASlow"},
	{"accept spins where it can't accept", "fabric/internal/greet/serve.go",
		"time.After(acceptPause)", "time.After(acceptPause / 100)", "TestAListener"},
	{"what stays can be hung up", "fabric/internal/greet/doors.go",
		"\tif !g.known.leave(g) {", "\tif false {", "TestWhatStays"},
	{"a peer may say any number of bytes", "fabric/internal/greet/exchange.go",
		"\tif n > most {\n\t\treturn nil, fmt.Errorf(\"the peer tells", "\tif n > most<<8 {\n\t\treturn nil, fmt.Errorf(\"the peer tells", "TestAPeerSays"},
}
