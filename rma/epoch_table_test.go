package rma

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The table says what each call does in each state of a window of five ranks, at rank
// 0 (MPI-4.0 §12.5). States are lists of what is open:
//
//	F   a fence was the last synchronization, no operation has followed
//	F+  a fence epoch with operations
//	S   an access epoch of Start, whose group is ranks 1 and 2
//	S0  the same with an empty group
//	X   an exposure epoch of Post
//	L0 L1 L2  the lock of a target: shared, that of 2 exclusive
//	LA  LockAll
//	Z   the window is freed
//
// A cell is the state after the call, = for the same, or why the call is refused.
const table = `
                         -       F       F+      S       S0      X       SX      FX      F+X     L1      L1L2    L0      L1X     LA      Z
§12.5.1
Fence                    F       =       F       !start  !start  !post   !post   !post   !post   !lock   !lock   !lock   !post   !all    !freed
Fence NoPrecede          F       =       !prec   !start  !start  !post   !post   !post   !post   !lock   !lock   !lock   !post   !all    !freed
Fence NoSucceed          =       -       -       !start  !start  !post   !post   !post   !post   !lock   !lock   !lock   !post   !all    !freed
Fence NoPrecede|NoSucceed =      -       !prec   !start  !start  !post   !post   !post   !post   !lock   !lock   !lock   !post   !all    !freed
§12.5.2
Start                    S       S       !fence  !start  !start  SX      !start  SX      !fence  !lock   !lock   !lock   !lock   !all    !freed
Start empty              S0      S0      !fence  !start  !start  S0X     !start  S0X     !fence  !lock   !lock   !lock   !lock   !all    !freed
Complete                 !noS    !noS    !noS    -       -       !noS    X       !noS    !noS    !noS    !noS    !noS    !noS    !noS    !freed
Post                     X       FX      F+X     SX      S0X     !post   !post   !post   !post   L1X     L1L2X   !locked !post   !locked !freed
Wait                     !noX    !noX    !noX    !noX    !noX    -       S       F       F+      !noX    !noX    !noX    L1      !noX    !freed
Test true                !noX    !noX    !noX    !noX    !noX    -       S       F       F+      !noX    !noX    !noX    L1      !noX    !freed
Test false               !noX    !noX    !noX    !noX    !noX    =       =       =       =       !noX    !noX    !noX    =       !noX    !freed
§12.5.3
Lock 0                   L0      L0      !fence  !start  !start  !expo   !start  !expo   !fence  L0L1    L0L1L2  !twice  !expo   !all    !freed
Lock 1                   L1      L1      !fence  !start  !start  L1X     !start  L1X     !fence  !twice  !twice  L0L1    !twice  !all    !freed
Lock 2                   L2      L2      !fence  !start  !start  L2X     !start  L2X     !fence  L1L2    !twice  L0L2    L1L2X   !all    !freed
Unlock 0                 !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    -       !tgt    !unall  !freed
Unlock 1                 !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    -       L2      !tgt    X       !unall  !freed
Unlock 2                 !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    !tgt    L1      !tgt    !tgt    !unall  !freed
LockAll                  LA      LA      !fence  !start  !start  !expo   !start  !expo   !fence  !lock   !lock   !lock   !lock   !all    !freed
UnlockAll                !noLA   !noLA   !noLA   !noLA   !noLA   !noLA   !noLA   !noLA   !noLA   !each   !each   !each   !each   -       !freed
§12.5.4
Flush 1                  !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       !tgt    =       =       !freed
Flush 2                  !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !tgt    =       !tgt    !tgt    =       !freed
FlushLocal 1             !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       !tgt    =       =       !freed
FlushLocal 2             !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !tgt    =       !tgt    !tgt    =       !freed
FlushAll                 !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       =       =       =       !freed
FlushLocalAll            !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       =       =       =       !freed
Sync                     !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       =       =       =       !freed
§12.3.1 to §12.3.4, and with no process §12.3
Op 1                     !no     F+      =       =       !group  !no     =       F+X     =       =       =       !tgt    =       =       !freed
Op 2                     !no     F+      =       =       !group  !no     =       F+X     =       !tgt    =       !tgt    !tgt    =       !freed
Op 3                     !no     F+      =       !group  !group  !no     !group  F+X     =       !tgt    !tgt    !tgt    !tgt    =       !freed
Op -1                    !no     F+      =       =       =       !no     =       F+X     =       =       =       =       =       =       !freed
§12.3.5
RequestOp 1              !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       !tgt    =       =       !freed
RequestOp 3              !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !tgt    !tgt    !tgt    !tgt    =       !freed
RequestOp -1             !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    !noL    =       =       =       =       =       !freed
§12.2.5
Free                     Z       Z       !ops    !start  !start  !post   !post   !post   !post   !lock   !lock   !lock   !post   !all    !freed
`

// refusals are the words of the table, and of the one below.
var refusals = map[string]reason{"!freed": over, "!busy": busy, "!tbusy": targetBusy, "!fence": fenceOpen, "!start": startOpen,
	"!lock": lockOpen, "!all": lockAllOpen, "!post": postOpen, "!ops": freeOpen, "!expo": selfExposed,
	"!locked": partLocked, "!prec": falsePrecede, "!noS": notStarted, "!noX": notPosted, "!noLA": notLockedAll,
	"!each": lockedOneByOne, "!twice": lockedTwice, "!no": noEpoch, "!noL": noLock, "!group": notInGroup,
	"!tgt": targetNotLocked, "!unall": unlocksAll}

// opening leads to the states, a step for each part of their names.
var opening = map[string]string{"F": "Fence", "+": "Op 1", "S": "Start", "S0": "Start empty", "X": "Post",
	"L0": "Lock 0", "L1": "Lock 1", "L2": "Lock 2", "LA": "LockAll", "Z": "Free", "-": ""}

// in returns a window in a state.
func in(t *testing.T, name string) *epochs {
	t.Helper()
	e := new(epochs)
	e.init(5, 0)
	for rest := name; rest != ""; {
		part := rest[:1]
		if len(rest) > 1 && opening[rest[:2]] != "" {
			part = rest[:2]
		}
		rest = rest[len(part):]
		if call := opening[part]; call != "" {
			if err := whole(e, call); err != nil {
				t.Fatalf("the way to %s: %s: %v", name, call, err)
			}
		}
	}
	return e
}

// begin makes a call. The change of one that opens or closes nothing is empty.
func begin(e *epochs, call string) (change, error) {
	name, rest, _ := strings.Cut(call, " ")
	target := -1
	fmt.Sscan(rest, &target)
	switch name {
	case "Fence":
		var a Assert
		for _, given := range []Assert{NoPrecede, NoSucceed} {
			if strings.Contains(rest, given.String()) {
				a |= given
			}
		}
		return e.fence(a)
	case "Start":
		if rest == "empty" {
			return e.start(0, nil)
		}
		return e.start(NoCheck, []int{1, 2})
	case "Complete":
		return e.complete()
	case "Post":
		return e.post(NoCheck | NoStore | NoPut)
	case "Wait":
		return e.wait()
	case "Test":
		return e.test()
	case "Lock":
		return e.lock(target, target == 2, NoCheck)
	case "Unlock":
		return e.unlock(target)
	case "LockAll":
		return e.lockAll(NoCheck)
	case "UnlockAll":
		return e.unlockAll()
	case "Free":
		return e.free()
	case "Flush":
		return change{}, e.flush(CallFlush, target)
	case "FlushLocal":
		return change{}, e.flush(CallFlushLocal, target)
	case "FlushAll":
		return change{}, e.flushAll(CallFlushAll)
	case "FlushLocalAll":
		return change{}, e.flushAll(CallFlushLocalAll)
	case "Sync":
		return change{}, e.flushAll(CallSync)
	case "Op":
		return change{}, e.op(target)
	case "RequestOp":
		return change{}, e.requestOp(target)
	}
	panic(call)
}

// whole makes a call from its begin to its end.
func whole(e *epochs, call string) error {
	ch, err := begin(e, call)
	switch {
	case ch.e == nil:
	case call == "Test false":
		ch.cancel()
	default:
		ch.end()
	}
	return err
}

// snapshot is all that decides what a window allows.
func snapshot(e *epochs) string {
	s := fmt.Sprintf("%x", e.load())
	e.words(func(w *uint64) { s += fmt.Sprintf(" %x", *w) })
	return s
}

// refused checks that an error is the one that a table names.
func refused(t *testing.T, what string, err error, e *epochs, want string) {
	t.Helper()
	var se *SyncError
	why, ok := refusals[want]
	switch {
	case !ok:
		t.Errorf("%s: %s is no word of the table", what, want)
	case !errors.As(err, &se):
		t.Errorf("%s: %v, want a refusal: %s", what, err, want)
	case se.Remedy != why.remedy(se.Call, se.Target, e.load()) || se.Freed != (why == over):
		t.Errorf("%s: %v, want %s: %s", what, err, want, why.remedy(se.Call, se.Target, e.load()))
	}
}

func TestEachCallInEachStateDoesWhatTheTableSays(t *testing.T) {
	lines := strings.Split(strings.Trim(table, "\n"), "\n")
	states := strings.Fields(lines[0])
	cells := 0
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "§") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < len(states)+1 {
			t.Fatalf("%s: cells are missing", line)
		}
		call := strings.Join(fields[:len(fields)-len(states)], " ")
		for i, want := range fields[len(fields)-len(states):] {
			cells++
			from := states[i]
			what := fmt.Sprintf("%s in %s", call, from)
			e := in(t, from)
			err := whole(e, call)
			after := want
			switch {
			case strings.HasPrefix(want, "!"):
				refused(t, what, err, e, want)
				after = from
			case err != nil:
				t.Errorf("%s: %v", what, err)
			case want == "=":
				after = from
			}
			if got, want := snapshot(e), snapshot(in(t, after)); got != want {
				t.Errorf("%s: the state is %s, want %s, %s", what, got, after, want)
			}
			e = in(t, from)
			if ch, err := begin(e, call); err == nil && ch.e != nil {
				ch.cancel()
				if got, want := snapshot(e), snapshot(in(t, from)); got != want {
					t.Errorf("%s, cancelled: the state is %s, want %s", what, got, want)
				}
			}
		}
	}
	if rows := 34; cells != rows*len(states) {
		t.Errorf("%d cells, want %d rows of %d", cells, rows, len(states))
	}
}

// meetings says what becomes of a second call while the first one is under way. ok
// says that both go on.
const meetings = `
first      from   Fence   Start   Complete Post    Wait    Test    Lock 0  Lock 1  Lock 2  Unlock 1 LockAll UnlockAll Free   Flush 1 Sync   Op 1    Op 2    Op -1   RequestOp 1
Fence      -      !busy   !busy   !busy    !busy   !busy   !busy   !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Fence      F+     !busy   !busy   !busy    !busy   !busy   !busy   !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Start      -      !busy   !busy   !busy    ok      !noX    !noX    !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Start      X      !busy   !busy   !busy    !post   ok      ok      !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Complete   S      !busy   !busy   !busy    ok      !noX    !noX    !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Complete   SX     !busy   !busy   !busy    !post   ok      ok      !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
LockAll    -      !busy   !busy   !busy    !busy   !noX    !noX    !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
UnlockAll  LA     !busy   !busy   !busy    !locked !noX    !noX    !busy   !busy   !busy   !unall   !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Free       -      !busy   !busy   !busy    !busy   !busy   !busy   !busy   !busy   !busy   !busy    !busy   !busy     !busy  !busy   !busy  !busy   !busy   !busy   !busy
Post       -      !busy   ok      !noS     !busy   !busy   !busy   !busy   ok      ok      !tgt     !busy   !noLA     !busy  !noL    !noL   !no     !no     !no     !noL
Post       F      !busy   ok      !noS     !busy   !busy   !busy   !busy   ok      ok      !tgt     !busy   !noLA     !busy  !noL    !noL   ok      ok      ok      !noL
Wait       X      !busy   ok      !noS     !busy   !busy   !busy   !expo   ok      ok      !tgt     !expo   !noLA     !busy  !noL    !noL   !no     !no     !no     !noL
Wait       SX     !busy   !start  ok       !busy   !busy   !busy   !start  !start  !start  !tgt     !start  !noLA     !busy  !noL    !noL   ok      ok      ok      !noL
Test       L1X    !busy   !lock   !noS     !busy   !busy   !busy   !expo   !twice  ok      ok       !lock   !each     !busy  ok      ok     ok      !tgt    ok      ok
Lock 1     -      !lock   !lock   !noS     ok      !noX    !noX    ok      !twice  ok      !tbusy   !lock   !each     !lock  !tbusy  ok     !tbusy  !tgt    ok      !tbusy
Lock 1     F      !lock   !lock   !noS     ok      !noX    !noX    ok      !twice  ok      !tbusy   !lock   !each     !lock  !tbusy  ok     !tbusy  !tgt    ok      !tbusy
Lock 0     -      !lock   !lock   !noS     !locked !noX    !noX    !twice  ok      ok      !tgt     !lock   !each     !lock  !tgt    ok     !tgt    !tgt    ok      !tgt
Lock 2     L1     !lock   !lock   !noS     ok      !noX    !noX    ok      !twice  !twice  ok       !lock   !each     !lock  ok      ok     ok      !tbusy  ok      ok
Unlock 1   L1     !lock   !lock   !noS     ok      !noX    !noX    ok      !twice  ok      !tbusy   !lock   !each     !lock  !tbusy  ok     !tbusy  !tgt    ok      !tbusy
Unlock 2   L1L2X  !post   !lock   !noS     !post   ok      ok      !expo   !twice  !twice  ok       !lock   !each     !post  ok      ok     ok      !tbusy  ok      ok
Unlock 0   L0     !lock   !lock   !noS     !locked !noX    !noX    !twice  ok      ok      !tgt     !lock   !each     !lock  !tgt    ok     !tgt    !tgt    ok      !tgt
`

func TestASecondChangeMeetsTheFirstAsTheTableSays(t *testing.T) {
	lines := strings.Split(strings.Trim(meetings, "\n"), "\n")
	calls := columns(lines[0])[2:]
	for _, line := range lines[1:] {
		row := columns(line)
		first, from := row[0], row[1]
		if len(row) != len(calls)+2 {
			t.Fatalf("%s: %d cells, want %d", line, len(row)-2, len(calls))
		}
		for i, want := range row[2:] {
			what := fmt.Sprintf("%s while %s of %s is under way", calls[i], first, from)
			for order := range 4 {
				e := in(t, from)
				one, err := begin(e, first)
				if err != nil {
					t.Fatal(err)
				}
				during := snapshot(e)
				two, err := begin(e, calls[i])
				sequel := in(t, from)
				switch {
				case want != "ok":
					refused(t, what, err, e, want)
					if snapshot(e) != during {
						t.Errorf("%s: the state is %s, want %s", what, snapshot(e), during)
					}
				case err != nil:
					t.Errorf("%s: %v", what, err)
					continue
				}
				// Both end or are cancelled; the second one may go first.
				finish(one, two, order)
				if order&1 == 0 {
					if err := whole(sequel, first); err != nil {
						t.Fatal(err)
					}
				}
				if two.e != nil && order&2 == 0 {
					if err := whole(sequel, calls[i]); err != nil {
						t.Errorf("%s: one after the other: %v", what, err)
					}
				}
				if two.e != nil && snapshot(e) != snapshot(sequel) {
					t.Errorf("%s, order %d: the state is %s, want %s", what, order, snapshot(e), snapshot(sequel))
				}
			}
		}
	}
}

// finish ends or cancels two changes: bit 0 of order cancels the first, bit 1 the
// second, which goes first if it is cancelled.
func finish(one, two change, order int) {
	if two.e != nil && order&2 != 0 {
		two.cancel()
	}
	if order&1 != 0 {
		one.cancel()
	} else {
		one.end()
	}
	if two.e != nil && order&2 == 0 {
		two.end()
	}
}

// columns splits a line into words; a rank belongs to the word before it.
func columns(line string) (all []string) {
	for _, f := range strings.Fields(line) {
		number := f == "-1" || len(f) == 1 && f >= "0" && f <= "9"
		if last := len(all) - 1; number && last >= 0 {
			all[last] += " " + f
			continue
		}
		all = append(all, f)
	}
	return all
}
