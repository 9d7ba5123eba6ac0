//go:build bugs

package rma

import "github.com/weft-mpi/weft/internal/testkit/planted"

// The tests that find the bugs of bugs.
const (
	rules    = "TestEachCall|TestASecondChange|TestEpochsDo"
	elements = "TestAccumulatesDoAs|TestCompareAndSwapDoesAs"
	together = "TestNoStroke"
)

// bugs are the mistakes that TestPlantedBugs makes, one at a time.
var bugs = planted.List{
	{"a lock leaves the fence's epoch to be opened", "rma/epoch_change.go",
		"\t\ts &^= fenced // the lock", "\t\t// the lock", rules},
	{"LockAll leaves the fence's epoch to be opened", "rma/epoch_change.go",
		"s&^(callMask<<accessShift|fenced) | lockedAll", "s&^(callMask<<accessShift) | lockedAll", rules},
	{"a Complete that was cancelled closes", "rma/epoch_change.go",
		"\t\te.openClaimed()\n\t\ts &^= callMask << accessShift\n", "\t\ts &^= callMask << accessShift\n", rules},
	{"a Start that was cancelled keeps its targets", "rma/epoch_change.go",
		"\t\te.keep(0)\n\t\ts &^= callMask << accessShift\n", "\t\ts &^= callMask << accessShift\n", rules},
	{"a lock of its own stays exclusive", "rma/epoch_change.go",
		"opened|claimed|exclusive|byCall, 0)", "opened|claimed|byCall, 0)", rules},
	{"a lock stays that of its call", "rma/epoch_change.go",
		"opened|claimed|exclusive|byCall, 0)", "opened|claimed|exclusive, 0)", "TestARankThatHoldsALockByACall"},
	{"a part that was unlocked can't be exposed", "rma/epoch_change.go",
		"\t\ts &^= selfLocked\n", "\t\t_ = s\n", rules},
	{"two hold the state at once", "rma/epoch.go",
		"if s := e.load(); e.swap(s, s|changing) {\n", "if s := e.load(); true {\n", "TestOneCallAtATimeHoldsTheState"},
	{"a target is locked twice", "rma/epoch_change.go",
		"why == fine && e.is(claimed, target) {", "false {", rules},
	{"operations go on while an epoch closes", "rma/epoch_change.go",
		"return s&^(anyTarget|anyRequest) | ", "return s | ", rules},
	{"operations go on in Complete", "rma/epoch_change.go",
		"\t\te.keep(claimed)\n", "", rules},
	{"a fence that nothing succeeds opens an epoch", "rma/epoch_change.go",
		"if ch.assert&NoSucceed != 0 {", "if false {", rules},
	{"Test without an answer is the end", "rma/epoch_change.go",
		"\tcase CallPost, CallWait, CallTest:\n\t\ts &^= callMask << exposureShift\n",
		"\tcase CallPost, CallWait, CallTest:\n\t\ts &^= callMask<<exposureShift | posted\n", rules},
	{"all far targets are one block", "rma/epoch.go",
		"return (*list)[target/64-1].Load()", "return (*list)[0].Load()", rules},
	{"an operation after a fence opens no epoch", "rma/epoch.go",
		"case e.swap(s, s|anyTarget):", "case s&fenced != 0:", rules},
	{"Start opens all targets of a word", "rma/epoch.go",
		"*w|*w&(claimed*eachTarget)/claimed*opened)", "*w|opened*eachTarget)", rules},
	{"an operation with a request needs no lock", "rma/epoch.go",
		"\tcase s.locks() == 0:\n", "\tcase s.locks() == 0 && c != callRequestOp:\n", rules},
	{"a part that LockAll has locked is exposed", "rma/epoch_rules.go",
		"s&(selfLocked|lockedAll) != 0", "s&selfLocked != 0", rules},
	{"a part that is exposed is locked by LockAll", "rma/epoch_rules.go",
		"case c == CallLockAll && s&posted != 0:\n\t\t\treturn selfExposed\n", "", rules},
	{"a part that is exposed is locked", "rma/epoch_rules.go",
		"case self && s&posted != 0:\n\t\t\treturn selfExposed\n", "", rules},
	{"NoPrecede is believed", "rma/epoch_rules.go",
		"a&NoPrecede != 0 && s.fenceEpoch()", "false", rules},
	{"a window is freed in a fence epoch", "rma/epoch_rules.go",
		"c == CallFree && s.fenceEpoch()", "false", rules},
	{"a fence without operations is an epoch", "rma/epoch_rules.go",
		"case s.fenceEpoch():\n\t\treturn fenceOpen\n", "case s&fenced != 0:\n\t\treturn fenceOpen\n", rules},

	{"neighbors are overwritten", "rma/element_parts.go",
		"now := was&^mask | r.combine(c, k, was, x)&mask", "now := r.combine(c, k, was, x)", elements},
	{"a bitwise and clears the neighbors", "rma/element_parts.go",
		"andWord(r.word, x|^mask)", "andWord(r.word, x)", elements},
	{"carries go on into the next element", "rma/element_parts.go",
		"return (a&^high + b&^high) ^ (a^b)&high", "return a + b + 0*high", elements},
	{"elements of two bytes are added as single bytes", "rma/element_parts.go",
		"\tif size == 2 {\n", "\tif size == 0 {\n", elements},
	{"neighbors that have changed are put back", "rma/element_parts.go",
		"if now == was || casWord(r.word, was, now) {", "if swapWord(r.word, now); true {", together},
	{"an element that has changed is overwritten", "rma/element.go",
		"if now == was || casWord(p, was, now) {", "if swapWord(p, now); true {", together},
	{"an element of 4 bytes was what it is", "rma/element_unsafe.go",
		"uint32(x))) - x\n", "uint32(x)))\n", elements},
	{"an element is compared with its neighbors", "rma/element_swap.go",
		"for was&mask == expect && ", "for was == expect && ", elements},
	{"elements of 16 bytes need no owner", "rma/element.go",
		"return size > 8 || ", "return size > 16 || ", elements + "|TestElementsOf16"},
	{"the owner gives no result", "rma/element.go",
		"\tif old != nil {\n\t\tcopy(old, dst)\n\t}\n\tif c == ops.CodeNoOp {\n", "\tif c == ops.CodeNoOp {\n", elements},
	{"the sum of complex128 is their product", "rma/element_combine.go",
		"z := ops.Complex(c, complex(part(a)", "z := ops.Complex(c%2+1, complex(part(a)", elements},
}
