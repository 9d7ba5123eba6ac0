//go:build bugs

package ulfm

import "github.com/weft-mpi/weft/internal/testkit/planted"

// The tests that find the bugs of bugs.
const (
	explored = "TestAgreementExplore|TestAgreementSim"
	spread   = "TestRevocationReachesAll"
)

// bugs are the mistakes that TestPlantedBugs makes, one at a time.
var bugs = planted.List{
	{"a rank returns when it has the Value", "internal/ulfm/agreement.go",
		"if a.knows == 1<<a.rounds-1 {", "if true {", explored},
	{"a rank that knows of a death begins the rounds", "internal/ulfm/agreement.go",
		"if a.hear(v); !a.dead.Empty() {", "if a.hear(v); false {", explored},
	{"who asks late gets no reply", "internal/ulfm/agreement.go",
		"m.Says == Ask || m.Says == Propose", "m.Says == Propose", explored},
	{"a leader that has returned is not told", "internal/ulfm/agreement.go",
		"m.Says == Ask || m.Says == Propose", "m.Says == Ask", explored},
	{"who has asked is not told of the end", "internal/ulfm/agreement.go",
		"to := a.asks\n", "to := Set{}\n", explored},
	{"a leader tells those who have asked only", "internal/ulfm/agreement.go",
		"\tif a.leads() {\n\t\tto = a.members\n\t}\n", "", explored},
	{"a leader waits for nobody's Value", "internal/ulfm/agreement.go",
		"if missing := others.Without(a.asks); !missing.Empty() {", "if missing := others.Without(a.asks); false && !missing.Empty() {", explored},
	{"a leader does not tell of the deaths", "internal/ulfm/agreement.go",
		"\t\t\t\t\ta.send(r, Message{Says: Ask, Value: a.brings()})\n", "", "TestNewsComesWithMessages"},
	{"a leader leaves out what the others bring", "internal/ulfm/agreement.go",
		"\t\t\t\ta.value = a.value.and(a.got)\n", "", explored},
	{"a leader begins anew", "internal/ulfm/agreement.go",
		"\t\tif !a.has {\n\t\t\tif missing", "\t\tif true {\n\t\t\tif missing", explored},
	{"a leader returns before the others have the Value", "internal/ulfm/agreement.go",
		"if others.Without(a.known).Empty() {", "if true {", explored},
	{"a dead leader's proposal counts", "internal/ulfm/agreement.go",
		"if from >= a.leader {", "if true {", "TestAProposalOfADeadLeaderComesLate"},
	{"the next leader is not asked", "internal/ulfm/agreement.go",
		"lowest != a.asked && lowest != a.leader", "a.asked < 0", explored},
	{"who brings nothing has not failed", "internal/ulfm/agreement.go",
		"\tv.Failed = v.Failed.Or(a.dead)\n", "", explored},
	{"a leader that has a Value proposes nothing", "internal/ulfm/agreement.go",
		"\t\tfor r := range others.Ranks() {\n\t\t\ta.send(r, Message{Says: Propose", "\t\tfor r := range a.asks.And(others).Ranks() {\n\t\t\ta.send(r, Message{Says: Propose", explored},
	{"the last rank waits for the dead", "internal/ulfm/agreement.go",
		"\tif a.started && !a.over {\n\t\ta.leave()\n", "\tif a.started && !a.over && !a.slow {\n\t\ta.leave()\n", explored},
	{"a round is skipped", "internal/ulfm/agreement.go",
		"got|^uint32(0)<<a.sent[of] == ^uint32(0)", "true", explored},
	{"an early message is lost", "internal/ulfm/agreement.go",
		"if !a.slow && m.Round < a.rounds {\n\t\t\ta.told", "if !a.slow && a.started {\n\t\t\ta.told", explored},
	{"a revocation is spread once", "internal/ulfm/revocation.go",
		"\tif v.revoked {\n\t\tv.flood()\n\t}\n", "", spread},
	{"a revocation is told to the dead", "internal/ulfm/revocation.go",
		"if v.dead.Has(r) {", "if false {", spread},
}
