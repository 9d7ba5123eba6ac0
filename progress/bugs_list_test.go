//go:build bugs

package progress

import "github.com/weft-mpi/weft/internal/planted"

// bugs are the mistakes in waiting that TestPlantedBugs makes, one at a time.
var bugs = planted.List{
	// What stands between work and sleep.
	{"no pass between Arm and sleep", "progress/states.go",
		"return true, l.pass(burst) == 0", "return true, true", "TestEachEvent"},
	{"the last pass before Arm", "progress/states.go",
		"\tif err := l.armAll(level); err != nil {\n", "\tquiet = l.pass(burst) == 0\n\tdefer func(was bool) { quiet = was }(quiet)\n\tif err := l.armAll(level); err != nil {\n", "TestEachEvent"},
	{"conditions are not looked at in a pass", "progress/loop.go",
		"\t\tsent = l.watching.look()\n", "\t\t_ = sent\n", "TestEachEvent|TestAWaitForAConditionEnds"},
	{"a condition is found and forgotten by the pass", "progress/loop.go",
		"sent = l.watching.look()", "l.watching.look()", "TestEachEvent"},
	{"a doorbell that can't be armed counts as armed", "progress/states.go",
		"\t\treturn false, false\n", "\t\treturn true, true\n", "TestEachEvent"},

	// The waiter.
	{"the token is lost at hand-over", "progress/states.go",
		"\tw.ready <- t //", "\tif t == toPoll {\n\t\treturn\n\t}\n\tw.ready <- t //", "TestEachEvent"},
	{"a waiter that is handed polling returns", "progress/states.go",
		"l.unpark(w, handed, toPoll)", "l.unpark(w, handed, toReturn)", "TestEachEvent"},
	{"a waiter that is handed polling stays in the list", "progress/states.go",
		"\tl.parked.remove(w)\n\tw.state", "\tif to != handed {\n\t\tl.parked.remove(w)\n\t}\n\tw.state", "TestEachEvent"},
	{"the youngest is handed polling", "progress/wait.go",
		"w := q.root.next; w != &q.root", "w := q.root.prev; w != &q.root", "TestEachEvent"},
	{"nobody polls after Leave", "progress/enter.go",
		"\t\tl.relay()\n\t}\n\tl.checkLeave()\n", "\t}\n\tl.checkLeave()\n", "TestEachEvent"},
	{"nobody polls for what was queued late", "progress/enter.go",
		"\t\tl.drain()\n\t\tl.relay()\n", "\t\tl.drain()\n", "TestEachEvent"},
	{"polling is handed over though the bell announces all", "progress/states.go",
		"l.parked.first() != nil && l.bell != fabric.WakeAll {\n\t\tl.handOver()", "l.parked.first() != nil {\n\t\tl.handOver()", "TestEachEvent"},
	{"a bell for urgent packets is enough for a waiter", "progress/states.go",
		"l.parked.first() != nil && l.bell != fabric.WakeAll {\n\t\tl.handOver()", "l.parked.first() != nil && l.bell == bellOff {\n\t\tl.handOver()", "TestEachEvent"},
	{"a displaced poller polls on", "progress/poll.go",
		"\t\t\t\tl.pace()\n\t\t\t\tif l.yield(); l.poller != w || l.asked(w) != nil {\n\t\t\t\t\tbreak\n\t\t\t\t}\n", "\t\t\t\tl.pace()\n\t\t\t\tl.yield()\n", "TestAPollerThatWasDisplaced"},
	{"a displaced poller counts as polling", "progress/states.go",
		"\t\tp.state = displaced\n", "\t\t_ = p\n", "TestEachEvent"},
	{"any number of waiters is bided", "progress/states.go",
		"if !l.oneProc || l.bided != nil {", "if !l.oneProc {", "TestEachEvent"},
	{"a waiter that was parked is not let run", "progress/states.go",
		"\t\tl.unpark(w, ended, toReturn)\n\t\tl.woke = true\n", "\t\tl.unpark(w, ended, toReturn)\n", "TestEachEvent"},
	{"a bided waiter is not let run", "progress/states.go",
		"\tcase bided:\n\t\tl.woke = true\n", "\tcase bided:\n", "TestEachEvent"},
	{"a domain lingers with nobody there", "progress/states.go",
		"\tl.lingering(false)\n\tl.poller", "\tl.poller", "TestPollersLinger"},
	{"a Waitany keeps the requests that it has not ended", "progress/wait.go",
		"\t\tif r.waiter == w {\n\t\t\tr.waiter = nil\n\t\t}\n\t}\n\tif w.detached", "\t\t_ = r\n\t}\n\tif w.detached", "TestContextsOfSeveralRequests|TestManyGoroutines"},
	{"a poller under traffic does not look at its contexts", "progress/poll.go",
		"l.passes%expiryPasses == 0 && w.expired()", "false && w.expired()", "TestAPollerUnderTraffic"},

	// The thread.
	{"a thread sleeps for urgent packets only where a condition is waited for", "progress/thread.go",
		" || l.watching.waiting.head != nil {", " {", "TestEachEvent|TestAConditionArms"},
	{"a thread sleeps for urgent packets only where a callback waits", "progress/thread.go",
		" || l.detachments > 0 ||", " ||", "TestEachEvent"},
	{"a thread sleeps that was roused in its look", "progress/states.go",
		"if next == untilBell && l.thread == roused {", "if false {", "TestEachEvent"},
	{"a thread sleeps whose last pass brought something", "progress/thread.go",
		"\tcase !quiet, len(l.backlogged) > 0:\n", "\tcase !quiet && !armed, len(l.backlogged) > 0:\n", "TestEachEvent"},
	{"a poller leaves the thread asleep", "progress/states.go",
		"\tl.disarmAll()\n\tl.Rouse()\n", "\tl.disarmAll()\n", "TestEachEvent"},
	{"a backlog does not rouse the thread", "progress/conn.go",
		"\tc.tail = p\n\tc.loop.Rouse() // room does not ring\n", "\tc.tail = p\n", "TestEachEvent"},
	{"a condition does not rouse the thread", "progress/watch.go",
		"\ts.l.Rouse() // the doorbell", "\t// the doorbell", "TestEachEvent"},
	{"a test leaves the bell to the thread", "progress/wait_one.go",
		"\tif l.bell == fabric.WakeUrgent {\n\t\tl.disarm()\n\t}\n", "\tif l.bell == fabric.WakeAll {\n\t\tl.disarm()\n\t}\n", "TestEachEvent"},

	// Functions run aside.
	{"a parked waiter is not called up", "progress/states.go",
		"\t\tl.unpark(w, called, toCall)\n", "\t\t_ = w\n", "TestEachEvent"},
	{"a waiter keeps polling to itself while it runs a function", "progress/states.go",
		"\tif l.poller == w {\n\t\tl.endPoll(w)\n\t}\n\tw.state = apart\n", "\tw.state = apart\n", "TestEachEvent"},
	{"a waiter that was called up parks though its requests have ended", "progress/wait.go",
		"if w.need == 0 && l.poller != w {", "if false {", "TestEachEvent"},
	{"a request ends before its function because the loop is closed", "progress/aside.go",
		"\t\tif !l.Apart(r) {\n\t\t\tl.Refuse(r)\n\t\t}\n", "\t\tl.Refuse(r)\n", "TestAClose"},

	// Ownership and the queue.
	{"a node is stranded by Leave", "progress/enter.go",
		"\tl.owned.give()\n\tif !l.queue.empty() {\n\t\tl.drainLate()\n\t}\n", "\tl.owned.give()\n", "TestNothingQueued"},
	{"a node is stranded by a yield", "progress/enter.go",
		"\tl.owned.give()\n\tl.drainLate()\n", "\tl.owned.give()\n", "TestNothingQueued"},
	{"the queue is a stack", "progress/queue.go",
		"n.next, first = first, n\n\t\tn = next\n", "if first == nil {\n\t\t\tfirst = n\n\t\t}\n\t\tn = next\n", "TestNothingQueued"},
	{"Behind before what is being drained", "progress/enter.go",
		"if l.queue.empty() && !l.draining {\n\t\tfn()", "if l.queue.empty() {\n\t\tfn()", "TestBehind"},
	{"Behind before what is queued", "progress/enter.go",
		"if l.queue.empty() && !l.draining {\n\t\tfn()", "if !l.draining {\n\t\tfn()", "TestBehind"},

	// Handles and ends.
	{"the generation is not moved on", "progress/request.go",
		"r.gen = (r.gen + uses) & lastGen", "r.gen = (r.gen + 0*uses) & lastGen", "TestACopyOfAHandle"},
	{"a condition keeps the callers of the slot's last operation", "progress/watch.go",
		"Take(owner), until, w)\n\tCallers(&r.Place)\n", "Take(owner), until, w)\n", "TestAWaitForAConditionKnows"},
	{"requests end before their domain is closed", "progress/closed.go",
		"\tl.Exclusive(func() { doms = l.seal() })\n", "\tl.Exclusive(func() { doms = l.seal(); l.requests.each(l.Refuse) })\n", "TestRequestsEndBehind"},
}
