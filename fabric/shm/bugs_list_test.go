//go:build bugs

package shm

import "github.com/weft-mpi/weft/internal/testkit/planted"

// bugs are the mistakes that TestPlantedBugs makes, one at a time. Above each stands
// what it breaks.
var bugs = planted.List{
	// The ring.
	// A receiver reads the bytes of an earlier lap.
	{"a line is published before its payload", "fabric/shm/ring.go",
		"\t\tcopy(p.payload(off, len(body)), body)\n", "\t\tp.line(p.tail).publish(ctl|ctlPayload, p.fenced)\n\t\tcopy(p.payload(off, len(body)), body)\n", "TestALineIsPublished"},
	{"the end of a long body is not copied", "fabric/shm/ring_unsafe.go",
		"uintptr(len(body)))\n}\n\n// claimLines", "uintptr(len(body)-1))\n}\n\n// claimLines", "TestLongBodies"},
	{"a line is published before what it holds", "fabric/shm/ring.go",
		"\t\tcopy(line.data(len(hdr), len(body)), body)\n", "\t\tline.publish(ctl, p.fenced)\n\t\tcopy(line.data(len(hdr), len(body)), body)\n", "TestALineIsPublished"},
	// The sender overwrites what a handler reads.
	{"the sender is told before the handler has returned", "fabric/shm/poll.go",
		"\t\tr.head++\n", "\t\tr.head++\n\t\tr.tell()\n", "TestTheSenderIsTold"},
	{"the sender is told of a line too many", "fabric/shm/ring.go",
		"c.setConsumed(c.told, c.payTold)", "c.setConsumed(c.told+1, c.payTold)", "TestARingIsAQueueWhenFull"},
	// A body overlaps the end of the area, and what lies behind.
	{"a body is split", "fabric/shm/ring.go",
		"if off+size > m.area {", "if off+size > m.area+lineSize {", "TestABodyIsNotSplit"},
	// A peer has its receiver read beyond the ring.
	{"a body that is too long is believed", "fabric/shm/poll.go",
		"if hl > maxInline || bl > maxEager {", "if hl > maxInline {", "TestAnImpossibleControlWord"},
	{"a consumer is believed whatever it claims", "fabric/shm/ring.go",
		"return p.tail-p.seen > p.limit || p.payTail-p.paySeen > p.area+maxEager", "return false", "TestAConsumerThatClaims"},

	// A ring that grows.
	// The news of the growth overwrites a line that nobody has read.
	{"the first ring keeps no line for its growth", "fabric/shm/ring_unsafe.go",
		"limit: firstLines - 1,", "limit: firstLines,", "TestAFullFirstRing|TestARingIsAQueue"},
	{"a ring grows before the message that says so", "fabric/shm/grow.go",
		"\tp.line(p.tail).publish(control(p.tail, internalGrown, 0, 0)|ctlInternal, p.fenced)\n\tp.ringMem = fullRing(p.mem)\n",
		"\tat := p.tail\n\tp.ringMem = fullRing(p.mem)\n\tp.line(at).publish(control(at, internalGrown, 0, 0)|ctlInternal, p.fenced)\n", "TestARingIsAQueue"},
	{"the consumer of a ring that has grown counts on", "fabric/shm/grow.go",
		"\tc.head, c.payHead, c.told, c.payTold = 0, 0, 0, 0\n", "\tc.payHead, c.told, c.payTold = 0, 0, 0\n", "TestARingIsAQueue"},
	// A machine that is full kills the rank.
	{"a consumer follows without memory", "fabric/shm/grow.go",
		"\tif err := populate(c.mem); err != nil {\n\t\treturn err\n\t}\n", "", "TestAPeerWhoseRingHasGrown"},

	// The doorbell. Each lets a rank sleep with a message in its ring.
	{"the wake word is cleared before the bell", "fabric/shm/doorbell.go",
		"\tringBell(uintptr(e.info.bell))\n\t// The peer arms again before it sleeps again.\n\tatomic.CompareAndSwapUint64(e.wake, w, 0)\n",
		"\tatomic.CompareAndSwapUint64(e.wake, w, 0)\n\tringBell(uintptr(e.info.bell))\n", "TestASenderThatStops"},
	{"Arm makes no barrier", "fabric/shm/doorbell.go",
		"\tif d.membarrier {\n", "\tif false {\n", "TestArmTells"},
	{"the barrier of Arm is before its word", "fabric/shm/doorbell.go",
		"\tatomic.StoreUint64(own, d.armed)\n", "\tdefer atomic.StoreUint64(own, d.armed)\n", "TestArmTells"},
	{"Arm gives a number again", "fabric/shm/doorbell.go",
		"\td.armings++\n", "\td.armings = 1\n", "TestASenderThatStops"},
	{"a word is cleared that has changed", "fabric/shm/doorbell.go",
		"\tatomic.CompareAndSwapUint64(e.wake, w, 0)\n", "\tatomic.StoreUint64(e.wake, w&0)\n", "TestASenderThatStops"},
	{"an urgent message does not ring", "fabric/shm/doorbell.go",
		"kind&fabric.Urgent == 0 && !e.tx.halfFull()", "!e.tx.halfFull()", "TestASenderThatStops"},
	// A rank that computes is woken for what can wait.
	{"Knock does not look what the peer sleeps for", "fabric/shm/reach.go",
		"\tif w == 0 || fabric.Wake(w&wakeLevel) == fabric.WakeUrgent && !urgent {\n", "\tif w == 0 {\n", "TestConformanceOfSleep$/^A_Knock"},
	{"a sender rings for every message", "fabric/shm/doorbell.go",
		"\tatomic.CompareAndSwapUint64(e.wake, w, 0)\n", "\t_ = w\n", "TestASenderRingsOnce"},

	// The end of a peer. Each has a peer write into memory that is used for
	// something else, or read it.
	{"a rank leaves without waiting for its writers", "fabric/shm/leave.go",
		"\tif rx := e.rxMem(); rx != nil && peerWrites(rx) {\n\t\treturn false\n\t}\n", "", "TestEndWaits"},
	{"a rank leaves without waiting for its helpers", "fabric/shm/leave.go",
		"return !j.settled() })", "return !j.settled() && false })", "TestEndWaits"},
	{"a writer does not look whether the peer has left", "fabric/shm/inflight.go",
		"if whyGone(tx) == 0 { // pairs with leave", "if true {", "TestNobodyWrites"},
	// The loop makes it a microsecond in which the peer leaves.
	{"a writer looks whether the peer has left before it says that it writes", "fabric/shm/inflight.go",
		"\tatomic.AddUint32(word(tx, offInFlight), 1)\n\tif whyGone(tx) == 0 {",
		"\twhy := whyGone(tx)\n\tfor range 5000 {\n\t\tatomic.LoadUint32(word(tx, offInFlight))\n\t}\n\tatomic.AddUint32(word(tx, offInFlight), 1)\n\tif why == 0 {",
		"TestConformanceOfSleep$/^Nothing_is_written"},
	{"several that write count as one", "fabric/shm/inflight.go",
		"\tatomic.AddUint32(word(tx, offInFlight), 1)\n", "\tatomic.StoreUint32(word(tx, offInFlight), 1)\n", "TestEndWaits"},
	{"the first that has written speaks for all", "fabric/shm/inflight.go",
		"\tleft := atomic.AddUint32(word(tx, offInFlight), ^uint32(0))\n", "\tleft := atomic.AndUint32(word(tx, offInFlight), 0) & 0\n", "TestEndWaits"},
	{"a peer that has ended this rank is taken for quiet", "fabric/shm/leave.go",
		"e.died || why == leftClosed {", "e.died || why != 0 {", "TestARankWaitsForTheGoroutines"},
	{"Close does not wait for the goroutines that write", "fabric/shm/close.go",
		"\t\t\te.writers.Lock() // for good, see Write\n", "", "TestCloseWaitsForAGoroutine"},
	{"a goroutine that writes does not keep its domain open", "fabric/shm/write.go",
		"\tdefer e.writers.RUnlock()\n\tw := e.way.Load() // pairs", "\te.writers.RUnlock()\n\tw := e.way.Load() // pairs", "TestCloseWaitsForAGoroutine"},
	{"a peer that this rank has ended is written to", "fabric/shm/leave.go",
		"\te.way.Store(&way{err: err}) // pairs with Write\n", "", "TestConformanceOfSleep$/^Write_to_a_peer"},
	{"a Write is not kept within its Remote", "fabric/shm/write.go",
		"uint64(len(src)) > dst.Len || ", "", "TestConformanceOfSleep$/^Write_writes"},
	{"a reader does not look whether the peer has left", "fabric/shm/get.go",
		"\t\terr = e.leftError()\n\t}\n\tif err == nil {\n\t\treturn nil", "\t\treturn nil\n\t}\n\tif err == nil {\n\t\treturn nil", "TestConformance$/^cma=true$/^Memory_of_a_(closed_peer|rank)"},
	{"a peer that has left is told of before its messages", "fabric/shm/death.go",
		"case e.rx == nil:", "case e.rx != nil:", "TestTheRingOfAPeer"},

	// Help with a transfer.
	{"a helper does not claim its blocks", "fabric/shm/coop.go",
		"if atomic.AddUint64(slotWord(j.mem, j.slot, coopClaims), 1) > j.blocks ||", "if atomic.LoadUint64(slotWord(j.mem, j.slot, coopClaims)) >= j.blocks ||", "TestEachBlock"},
	{"a block is claimed twice", "fabric/shm/coop.go",
		"return atomic.AddUint64(slotWord(tx.mem, slot, coopClaims), 1) <= uint64(blocks)", "return atomic.LoadUint64(slotWord(tx.mem, slot, coopClaims)) < uint64(blocks)", "TestEachBlock"},
	{"a slot is used again before its helper has answered", "fabric/shm/coop.go",
		"if c.gets&bit != 0 || c.busy&bit != 0 && ", "if c.gets&bit != 0 || false && ", "TestASlotWaits"},
	{"a block that the helper has not copied is missing", "fabric/shm/coop.go",
		"missing := theirs - copied;", "missing := 0 * copied;", "TestACooperativeCopy"},

	// The greeting. Each joins ranks that do not belong together.
	{"another job is greeted", "fabric/shm/hello.go", "case o.job != h.job:", "case false:", "TestAMismatch"},
	{"another version is greeted", "fabric/shm/hello.go", "case o.version != h.version:", "case false:", "TestAMismatch"},
	{"another user is greeted", "fabric/shm/meet.go", "int(cred.Uid) != euid && cred.Uid != 0", "int(cred.Uid) != euid && euid != 0", "TestAProcessOfAnotherUser"},
	{"a rank that is not in the job is greeted", "fabric/shm/hello.go", "case o.rank >= h.size:", "case o.rank > h.size:", "TestAMismatch"},
	{"a dialler that has not settled is joined", "fabric/shm/answer.go",
		"\tif atomic.LoadUint32(c.settled) != 1 {\n", "\tif atomic.LoadUint32(c.settled) > 1 {\n", "TestADiallerThatEnds"},
	{"a dialler settles before it has mapped what it got", "fabric/shm/dial.go",
		"\tdefer closeAll(fds)\n", "\tdefer closeAll(fds)\n\tatomic.StoreUint32(word(c.seg, offSettled), 1)\n", "TestADiallerThatCanNot"},
	// To read beyond the end of a file that shrinks kills the rank.
	{"a file that can shrink is mapped", "fabric/shm/segment.go",
		"if seals&unix.F_SEAL_SHRINK == 0 {", "if seals < 0 {", "TestStrangersAtTheSocket"},

	// Memory that peers map.
	{"what is shared overlaps", "fabric/shm/reach.go",
		"\td.shared += size\n", "\td.shared += size - n&lineSize\n", "TestConformanceOfSleep$/^What_a_rank_shares_is_reached_by_loads"},
	{"the view of an arena moves", "fabric/shm/arena_view.go",
		"maps = append(maps[:len(maps):len(maps)], piece{mem, at})", "maps = []piece{{mem, at}}", "TestAViewOfAnArenaKeeps"},
	{"the end of an arena is one byte late", "fabric/shm/arena_unsafe.go",
		"n <= size-off {", "n <= size-off+1 {", "TestAPeerNames"},
	{"the end of a view is one byte late", "fabric/shm/arena_view.go",
		"off+n > uint64(st.Size) {", "off+n > uint64(st.Size)+1 {", "TestAViewOfAnArena"},
	{"the domain's own words are shared", "fabric/shm/reach.go",
		"addr < offShare || ", "", "TestOnlyWhatIsShared"},
	{"the end of what is shared is one byte late", "fabric/shm/reach.go",
		"n > controlSize-addr {", "n > controlSize-addr+1 {", "TestOnlyWhatIsShared"},
	{"memory of the arena is given twice", "fabric/shm/arena.go",
		"s.off, s.n = s.off+size, s.n-size;", "s.off, s.n = s.off+size-4096, s.n-size+4096;", "TestTheArenaGives"},

	{"the failure of a NoOp is forgotten", "fabric/shm/flush.go",
		"\tcase e.unsaid == nil:\n\t\te.unsaid = err\n", "", "TestTheFailureOfANoOp"},
	{"a Flush waits for the last of its jobs only", "fabric/shm/flush.go",
		"flush{op, e.begun, e.running, err}", "flush{op, e.begun, 1, err}", "TestAFlushWaitsForAll"},
}
