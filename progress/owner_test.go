package progress

import (
	"errors"
	"testing"
)

// ways complete one request each, and return its error.
var ways = map[string]func(h *Handle) error{
	"Wait":    func(h *Handle) error { _, err := Wait(h); return err },
	"Test":    func(h *Handle) error { _, _, err := Test(h); return err },
	"WaitAll": func(h *Handle) error { return WaitAll([]Handle{{}, *h}, nil) },
	"WaitAll with statuses": func(h *Handle) error {
		out := make([]Status, 2)
		WaitAll([]Handle{{}, *h}, out)
		return out[1].Err
	},
	"TestAll": func(h *Handle) error { _, err := TestAll([]Handle{*h}, nil); return err },
	"WaitAny": func(h *Handle) error { _, _, err := WaitAny([]Handle{{}, *h}); return err },
	"TestAny": func(h *Handle) error { _, _, _, err := TestAny([]Handle{{}, *h}); return err },
	"WaitSome": func(h *Handle) error {
		out := make([]Status, 1)
		WaitSome([]Handle{*h}, make([]int, 1), out)
		return out[0].Err
	},
	"TestSome": func(h *Handle) error {
		out := make([]Status, 1)
		TestSome([]Handle{*h}, make([]int, 1), out)
		return out[0].Err
	},
}

// The error of a request leads to its owner, after its handle has been spent too.
func TestAnErrorNamesTheOwnerOfItsRequest(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	s.l.Own("the program")
	boom := errors.New("boom")
	for name, complete := range ways {
		for _, persistent := range []bool{false, true} {
			for _, late := range []bool{false, true} {
				for _, owner := range []uint32{0, 7} {
					var h Handle
					if !persistent {
						h = s.begin(forever, 0, 1)
					} else {
						h = s.persist(forever, 0)
						if err := Restart(h); err != nil {
							t.Fatal(err)
						}
					}
					h = h.For(owner)
					copied := h // the call may spend h at any time
					end := func() { s.own(func() { s.Cancel(copied.r, boom) }) }
					if late && name[0] == 'W' {
						go end()
					} else {
						end()
					}
					checkOwner(t, name, complete(&h), boom, owner)
					if persistent {
						if _, err := Release(&copied); err != nil {
							t.Errorf("%s: Release: %v", name, err)
						}
					} else if name == "Wait" {
						checkOwner(t, "a second Wait", complete(&copied), ErrStale, owner)
					}
				}
			}
		}
	}
	s.checkFree(t)
}

func checkOwner(t *testing.T, what string, err, cause error, owner uint32) {
	t.Helper()
	f, is := errors.AsType[*Failed](err)
	if is != (owner != 0) || !errors.Is(err, cause) {
		t.Errorf("%s of a request of %d: %v", what, owner, err)
	} else if is {
		if program, of := f.Handle.Owner(); program != "the program" || of != owner {
			t.Errorf("%s of a request of %d: it is %v's %d", what, owner, program, of)
		}
	}
}

// A withdrawn request has not failed.
func TestACancelledRequestNamesNoOwner(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	h := s.begin(forever, 0, 1).For(7)
	if _, _, err := Cancel(h); err != nil {
		t.Fatal(err)
	}
	if _, err := Wait(&h); err != ErrCancelled {
		t.Errorf("Wait = %v", err)
	}
	if program, owner := h.Owner(); program != nil || owner != 0 || h != (Handle{}) {
		t.Errorf("the null handle is %v's %d", program, owner)
	}
	s.checkFree(t)
}

// Of several persistent requests the one that can't be started is named.
func TestAStartThatFailsNamesItsOwner(t *testing.T) {
	s := loops(t, 1, Config{})[0]
	s.l.Own("the program")
	var hs []Handle
	for i := range 3 {
		hs = append(hs, s.persist(atOnce, 0).For(uint32(i+1)))
	}
	if err := Restart(hs[1]); err != nil {
		t.Fatal(err)
	}
	checkOwner(t, "RestartAll", RestartAll(hs), ErrActive, 2)
	for i := range hs {
		if _, err := Wait(&hs[i]); err != nil {
			t.Error(err)
		}
		if _, err := Release(&hs[i]); err != nil {
			t.Error(err)
		}
	}
	s.checkFree(t)
}
