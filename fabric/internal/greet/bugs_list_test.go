//go:build bugs

package greet

import "github.com/weft-mpi/weft/internal/planted"

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
	{"a proof is good for every job", "fabric/internal/greet/greeting.go",
		"[]byte(role), []byte(s.Job), dialer", "[]byte(role), dialer", "TestWhoIsNot"},
	{"a proof leaves the listener's greeting out", "fabric/internal/greet/greeting.go",
		"dialer, listener} {", "dialer, listener[:20]} {", "TestAProof"},
	{"a proof leaves the dialer's greeting out", "fabric/internal/greet/greeting.go",
		"dialer, listener} {", "dialer[:20], listener} {", "TestAProof"},
	{"every greeting has one nonce", "fabric/internal/greet/greeting.go",
		"\trand.Read(nonce[:])\n\treturn append(b", "\treturn append(b", "TestAProof"},
	// Ranks that do not understand one another, or are the same, connect.
	{"another version is greeted", "fabric/internal/greet/greeting.go",
		"v != s.Version {", "v > s.Version+1 {", "TestWhoIsNot|TestTheDialer"},
	{"a rank greets itself", "fabric/internal/greet/exchange.go",
		" || rank == s.Rank {", " {", "TestWhoIsNot"},
	{"another rank than the one that was dialled is greeted", "fabric/internal/greet/exchange.go",
		"case rank != peer || size != s.Size:", "case size != s.Size:", "TestTheDialer"},
	// Strangers take memory, descriptors and time without end.
	{"any number of strangers is listened to", "fabric/internal/greet/serve.go",
		"\t\t\tconn.Close()\n\t\t\tcontinue\n", "\t\t\tgo func() { busy <- struct{}{} }()\n", "TestTooMany"},
	{"a stranger may take any time", "fabric/internal/greet/serve.go",
		"\tconn.SetDeadline(time.Now().Add(limit))\n", "\t_ = limit\n", "TestAGreetingHasItsLimit"},
	{"a peer may say any number of bytes", "fabric/internal/greet/exchange.go",
		"\tif n > most {\n\t\treturn nil, fmt.Errorf(\"the peer tells", "\tif n > most<<8 {\n\t\treturn nil, fmt.Errorf(\"the peer tells", "TestAPeerSays"},
}
