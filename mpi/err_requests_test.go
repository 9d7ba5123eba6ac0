package mpi_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// misuse is a mistake with a request, what errors say of it, and the calls that it is
// made with.
type misuse struct {
	mistake, sentence string
	r                 mpi.Request
	calls             string
}

// oneRequest are calls on one request.
var oneRequest = map[string]func(r mpi.Request) error{
	"Wait":             func(r mpi.Request) error { _, err := mpi.Wait(&r); return err },
	"Test":             func(r mpi.Request) error { _, _, err := mpi.Test(&r); return err },
	"RequestStatus":    func(r mpi.Request) error { _, _, err := mpi.RequestStatus(r); return err },
	"Start":            func(r mpi.Request) error { return mpi.Start(&r) },
	"Cancel":           func(r mpi.Request) error { return mpi.Cancel(&r) },
	"RequestFree":      func(r mpi.Request) error { return mpi.RequestFree(&r) },
	"OnComplete":       func(r mpi.Request) error { return mpi.OnComplete(&r, func(mpi.Status, error) {}) },
	"GrequestComplete": mpi.GrequestComplete,
	"Pready":           func(r mpi.Request) error { return mpi.Pready(0, r) },
	"Parrived":         func(r mpi.Request) error { _, err := mpi.Parrived(r, 0); return err },
}

// withdraw cancels and completes a receive.
func withdraw(r mpi.Request) {
	ok(mpi.Cancel(&r))
	get(mpi.Wait(&r))
}

// Each mistake with a request has its own sentence, with what to do, in every call.
func TestEachMistakeWithARequestHasItsSentence(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			b := make([]int32, 1)
			if c.Rank() == 1 {
				get(mpi.Recv(c, b, 0, 9))
				r := get(c.Ibarrier())
				get(mpi.Wait(&r))
				return
			}
			receive := func() mpi.Request { return get(mpi.Irecv(c, b, 0, 1)) }
			open, spent, given, detached, waited := receive(), receive(), receive(), receive(), receive()
			withdraw(spent)
			idle, active := get(mpi.RecvInit(c, b, 0, 2)), get(mpi.RecvInit(c, b, 0, 3))
			ok(mpi.Start(&active))
			send := get(mpi.PsendInit(c, b, 1, mpi.ProcNull, 4)).Request
			here := get(mpi.Isend(c, b, mpi.ProcNull, 0))
			collective, ended := get(c.Ibarrier()), get(mpi.GrequestStart(w, nil, nil, nil))
			ok(mpi.GrequestComplete(ended))
			for f, r := range map[string]mpi.Request{"OnComplete": detached, "RequestFree": given} {
				ok(oneRequest[f](r))
			}
			join := aside(func() { ok(oneRequest["Wait"](waited)) })
			for oneRequest["RequestStatus"](waited) == nil {
				runtime.Gosched()
			}

			const completes = "Wait Test RequestStatus RequestFree OnComplete"
			sentences := map[string]string{}
			for _, m := range []misuse{
				{"null", "the request is null: ", mpi.Request{}, "Start Cancel RequestFree OnComplete GrequestComplete"},
				{"completed", "completed or freed already", spent, completes + " Start Cancel GrequestComplete"},
				{"waited for", "another goroutine waits for the request", waited, completes},
				{"detached", "detached by OnComplete", detached, completes},
				{"detached", "given up by RequestFree", given, completes},
				{"not started", "not active: call Start first", idle, "Cancel OnComplete"},
				{"started twice", "active already", active, "Start"},
				{"not persistent", "is not persistent", open, "Start"},
				{"not persistent", "is not persistent", here, "Start"},
				{"of no program's operation", "not of GrequestStart", open, "GrequestComplete"},
				{"of no program's operation", "not of GrequestStart", here, "GrequestComplete"},
				{"completed by the program twice", "GrequestComplete has been called", ended, "GrequestComplete"},
				{"collective", "a collective or partitioned operation", collective, "Cancel RequestFree"},
				{"not of partitions", "not of PsendInit", open, "Pready"},
				{"of the sender", "not of PrecvInit", send, "Parrived"},
			} {
				for _, call := range strings.Fields(m.calls) {
					err := oneRequest[call](m.r)
					wantWords(t, m.mistake, err, mpi.ErrRequest, m.sentence)
					text, prefixed := strings.CutPrefix(fmt.Sprint(err), "mpi."+call+": ")
					if !prefixed || strings.Contains(text, "mpi.") || !strings.Contains(text, ": ") {
						t.Errorf("%s: %s says %q, want the call, the mistake, and what to do", m.mistake, call, err)
					}
					if of := sentences[text]; of != "" && of != m.mistake {
						t.Errorf("%s and %s have one sentence, %q", m.mistake, of, text)
					}
					sentences[text] = m.mistake
				}
			}
			for _, r := range []mpi.Request{open, active} {
				withdraw(r)
			}
			ok(mpi.Send(c, b, 1, 9))
			get(mpi.Wait(&collective))
			get(mpi.Wait(&ended))
			for _, r := range []mpi.Request{idle, active, send} {
				ok(mpi.RequestFree(&r))
			}
			for _, r := range []mpi.Request{waited, given, detached} {
				mpi.Cancel(&r)
			}
			join()
		})
	})
}

// listCalls are the calls on a list of requests.
var listCalls = map[string]func(rs []mpi.Request) error{
	"Waitall":  func(rs []mpi.Request) error { return mpi.Waitall(rs, nil) },
	"Testall":  func(rs []mpi.Request) error { _, err := mpi.Testall(rs, nil); return err },
	"Waitany":  func(rs []mpi.Request) error { _, _, err := mpi.Waitany(rs); return err },
	"Testany":  func(rs []mpi.Request) error { _, _, _, err := mpi.Testany(rs); return err },
	"Waitsome": func(rs []mpi.Request) error { _, err := mpi.Waitsome(rs, make([]int, len(rs)), nil); return err },
	"Testsome": func(rs []mpi.Request) error { _, err := mpi.Testsome(rs, make([]int, len(rs)), nil); return err },
	"Startall": mpi.Startall,
	"Waitall with statuses": func(rs []mpi.Request) error {
		sts := make([]mpi.Status, len(rs))
		err := mpi.Waitall(rs, sts)
		if sts[1].Err == nil || strings.Contains(sts[1].Err.Error(), "request 1") {
			return fmt.Errorf("the status says %v", sts[1].Err)
		}
		return err
	},
	"Waitsome with statuses": func(rs []mpi.Request) error {
		_, err := mpi.Waitsome(rs, make([]int, len(rs)), make([]mpi.Status, len(rs)))
		return err
	},
}

// A call on a list names the index of the request that is wrong, or has failed.
func TestCallsOnListsNameTheRequest(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			b := make([]int32, 1)
			for call, f := range listCalls {
				name, _, _ := strings.Cut(call, " ")
				check := func(what string, rs []mpi.Request, words ...string) {
					t.Helper()
					err := f(rs)
					if text := fmt.Sprint(err); !strings.HasPrefix(text, "mpi."+name+": request ") || strings.Count(text, "mpi.") != 1 {
						t.Errorf("%s, %s: %q", call, what, text)
					}
					for _, word := range words {
						if !strings.Contains(fmt.Sprint(err), word) {
							t.Errorf("%s, %s: %q does not say %q", call, what, err, word)
						}
					}
				}
				open, idle := get(mpi.Irecv(c, b, 0, 1)), get(mpi.RecvInit(c, b, 0, 2))
				spent := get(mpi.Irecv(c, b, 0, 1))
				withdraw(spent)
				rs := []mpi.Request{{}, spent, open}
				if name == "Startall" {
					rs[0] = idle
				}
				check("one that was completed", rs, "request 1: ", "completed or freed already")
				switch {
				case name == "Startall":
					check("one that is null", []mpi.Request{{}}, "request 0: ", "the request is null")
					check("one that is active", []mpi.Request{idle}, "request 0: ", "active already")
					withdraw(idle)
				case strings.HasPrefix(name, "Wait"):
					check("one that is there twice", []mpi.Request{open, open}, "request 1: ", "in the list twice")
				}
				withdraw(open)
				ok(mpi.RequestFree(&idle))
				if name == "Startall" {
					continue
				}
				failed := get(mpi.Irecv(c, b[:0], 0, 1))
				ok(mpi.Send(c, b, 0, 1))
				check("one that has failed", []mpi.Request{{}, failed}, "request 1: ")
			}
		})
	})
}

// A request whose World or session has ended says so, also one that would start again.
func TestRequestsOfWhatHasEndedSaySo(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			b := make([]int32, 1)
			s := get(w.NewSession())
			for _, of := range []struct {
				c        *mpi.Comm
				end      func() error
				sentence string
			}{{get(s.Comm(mpi.PsetSelf, "own")), s.Finalize, "the session of the communicator has been finalized"}, {c, w.Finalize, "the World has been finalized"}} {
				open, idle, active := get(mpi.Irecv(of.c, b, 0, 1)), get(mpi.RecvInit(of.c, b, 0, 2)), get(mpi.RecvInit(of.c, b, 0, 3))
				parts := get(mpi.PrecvInit(of.c, b, 1, 0, 4)).Request
				ok(mpi.Start(&active))
				ok(of.end())
				for _, call := range []struct {
					what string
					err  error
				}{
					{"RequestStatus", oneRequest["RequestStatus"](open)},
					{"Wait", oneRequest["Wait"](open)},
					{"Waitall", mpi.Waitall([]mpi.Request{{}, active}, nil)},
					{"Start", mpi.Start(&idle)},
					{"Start of what was active", mpi.Start(&active)},
					{"Start of a partitioned one", mpi.Start(&parts)},
					{"Startall", mpi.Startall([]mpi.Request{idle})},
				} {
					wantWords(t, call.what, call.err, mpi.ErrComm, of.sentence+": ")
				}
				ok(mpi.RequestFree(&idle))
			}
		})
	})
}
