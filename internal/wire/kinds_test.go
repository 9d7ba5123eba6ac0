package wire

import "testing"

// Each protocol's kinds lie in its range, and no two are the same.
func TestKindsLieInTheRangeOfTheirProtocol(t *testing.T) {
	ranges := []struct {
		name   string
		from   uint8
		before uint8
		kinds  []uint8
	}{
		{"pt2pt", kindPt2pt, kindRMA, []uint8{Eager, EagerFirst, EagerMore, EagerSync, EagerReady, RTS, CTS, Data, FIN, Cancel,
			Cancelled, Flow, Grant, Written, Dead}},
		{"rma", kindRMA, kindPartitioned, []uint8{RAcc, RGet, RCas, RData, RFlush, RFlushed, RRefused, RPost, RComplete, RLock, RPress, RUnlock,
			RGranted, RDeclined, RAccess, RConflict, RType, RAccTyped, RGetTyped, RAccessTyped}},
		{"partitioned", kindPartitioned, kindComm, []uint8{PInit, PAccept, PGo, PReady, PData, PLanded, PDone, PFree, PStop, PStill}},
		{"communicators, collectives and failure", kindComm, kindSpare, []uint8{Abort, Letter, Compare, Compared, Revoke, Agree, Ask, Tell, Echo, Clock}},
		{"spare", kindSpare, kindTests, nil},
		{"tests", kindTests, Urgent, nil},
	}
	seen := map[uint8]bool{}
	for _, r := range ranges {
		if r.from >= r.before {
			t.Errorf("%s has no kinds", r.name)
		}
		for _, k := range r.kinds {
			k &^= Urgent
			if k < r.from || k >= r.before {
				t.Errorf("kind %d of %s is not from %d to %d", k, r.name, r.from, r.before-1)
			}
			if seen[k] {
				t.Errorf("kind %d has two meanings", k)
			}
			seen[k] = true
		}
	}
}
