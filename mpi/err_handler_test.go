package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// errSeen is in the errors that have been through a seer.
var errSeen = errors.New("seen")

// seer is an error handler that counts.
func seer(calls *atomic.Int32) *mpi.Errhandler {
	return mpi.NewErrhandler(func(c *mpi.Comm, err error) error {
		calls.Add(1)
		if c == nil {
			return errors.New("the handler was given no communicator")
		}
		return fmt.Errorf("%w by %d: %w", errSeen, calls.Load(), err)
	})
}

// checkSeen checks that one handler has seen the error, once.
func checkSeen(t *testing.T, what string, calls *atomic.Int32, err error) {
	t.Helper()
	if n := calls.Swap(0); n != 1 || !errors.Is(err, errSeen) || strings.Count(err.Error(), "seen by") != 1 {
		t.Errorf("%s: the handler was called %d times, and the error is: %v", what, n, err)
	}
}

// victim is a communicator of one rank whose handler is a seer.
type victim struct {
	c, freed *mpi.Comm
	kv       *mpi.Keyval[int]
}

// broken is a request that fails when it is completed.
func (v victim) broken() *mpi.Request {
	r := get(mpi.Irecv(v.c, make([]byte, 1), 0, 7))
	ok(mpi.Send(v.c, make([]byte, 2), 0, 7))
	return &r
}

// spent is a request that has been completed.
func (v victim) spent() *mpi.Request {
	r := get(mpi.Isend(v.c, []byte{1}, mpi.ProcNull, 0))
	was := r
	get(mpi.Wait(&r))
	return &was
}

// received is a request in the slab that has been completed.
func (v victim) received() *mpi.Request {
	r := get(mpi.Irecv(v.c, make([]byte, 1), 0, 6))
	ok(mpi.Send(v.c, none, 0, 6))
	was := r
	get(mpi.Wait(&r))
	return &was
}

func (v victim) partitioned() *mpi.Partitioned {
	return get(mpi.PsendInit(v.c, make([]byte, 4), 2, 0, 1))
}

func (v victim) parts() mpi.Request { return v.partitioned().Request }

var none = make([]byte, 1)

// failures makes each exported call that belongs to a communicator fail.
var failures = map[string]func(v victim) error{
	"Send":                   func(v victim) error { return mpi.Send(v.c, none, 5, 0) },
	"Ssend":                  func(v victim) error { return mpi.Ssend(v.c, none, 5, 0) },
	"Rsend":                  func(v victim) error { return mpi.Rsend(v.c, none, 5, 0) },
	"Bsend":                  func(v victim) error { return mpi.Bsend(v.c, make([]byte, 1<<20), 0, 0) },
	"Isend":                  func(v victim) error { return second(mpi.Isend(v.c, none, 5, 0)) },
	"Issend":                 func(v victim) error { return second(mpi.Issend(v.c, none, 5, 0)) },
	"Irsend":                 func(v victim) error { return second(mpi.Irsend(v.c, none, 0, -5)) },
	"Ibsend":                 func(v victim) error { return second(mpi.Ibsend(v.c, none, 5, 0)) },
	"Recv":                   func(v victim) error { return second(mpi.Recv(v.c.WithContext(ended()), none, 0, 0)) },
	"Irecv":                  func(v victim) error { return second(mpi.Irecv(v.c, none, 5, 0)) },
	"SendInit":               func(v victim) error { return second(mpi.SendInit(v.c, none, 5, 0)) },
	"SsendInit":              func(v victim) error { return second(mpi.SsendInit(v.c, none, 5, 0)) },
	"RsendInit":              func(v victim) error { return second(mpi.RsendInit(v.c, none, 5, 0)) },
	"BsendInit":              func(v victim) error { return second(mpi.BsendInit(v.c, none, 5, 0)) },
	"RecvInit":               func(v victim) error { return second(mpi.RecvInit(v.c, none, 5, 0)) },
	"Sendrecv":               func(v victim) error { return second(mpi.Sendrecv(v.c, make([]byte, 2), 0, 0, none, 0, 0)) },
	"SendrecvReplace":        func(v victim) error { return second(mpi.SendrecvReplace(v.c, none, 5, 0, 0, 0)) },
	"Isendrecv":              func(v victim) error { return second(mpi.Isendrecv(v.c, none, 0, 0, none, 5, 0)) },
	"IsendrecvReplace":       func(v victim) error { return second(mpi.IsendrecvReplace(v.c, none, 5, 0, 0, 0)) },
	"Probe":                  func(v victim) error { return second(mpi.Probe(v.c.WithContext(ended()), 0, 0)) },
	"Iprobe":                 func(v victim) error { _, _, err := mpi.Iprobe(v.c, 5, 0); return err },
	"Mprobe":                 func(v victim) error { _, _, err := mpi.Mprobe(v.c, 5, 0); return err },
	"Improbe":                func(v victim) error { _, _, _, err := mpi.Improbe(v.c, 5, 0); return err },
	"Mrecv":                  func(v victim) error { return second(mpi.Mrecv(v.message(), none)) },
	"Comm.Compare":           func(v victim) error { return second(v.freed.Compare(v.c)) },
	"Comm.Idup":              func(v victim) error { _, _, err := v.freed.Idup(); return err },
	"Comm.IdupWithInfo":      func(v victim) error { _, _, err := v.freed.IdupWithInfo(nil); return err },
	"Comm.Split":             func(v victim) error { return second(v.c.Split(-3, 0)) },
	"Comm.SplitType":         func(v victim) error { return second(v.c.SplitType(7, 0)) },
	"Comm.SplitTypeWithInfo": func(v victim) error { return second(v.c.SplitTypeWithInfo(mpi.TypeHWGuided, 0, nil)) },
	"Comm.Create":            func(v victim) error { return second(v.c.Create(nil)) },
	"Comm.Ibarrier":          func(v victim) error { return second(v.freed.Ibarrier()) },
	"Bcast":                  func(v victim) error { return mpi.Bcast(v.c, none, 5) },
	"Gather":                 func(v victim) error { return mpi.Gather(v.c, none, none, 5) },
	"Gatherv":                func(v victim) error { return mpi.Gatherv(v.c, none, none, nil, nil, 5) },
	"Scatter":                func(v victim) error { return mpi.Scatter(v.c, none, none, 5) },
	"Scatterv":               func(v victim) error { return mpi.Scatterv(v.c, none, none, nil, nil, 5) },
	"Allgather":              func(v victim) error { return mpi.Allgather(v.c, make([]byte, 2), none) },
	"Allgatherv":             func(v victim) error { return mpi.Allgatherv(v.c, none, none, nil, nil) },
	"Alltoall":               func(v victim) error { return mpi.Alltoall(v.c, make([]byte, 2), none) },
	"Alltoallv":              func(v victim) error { return mpi.Alltoallv(v.c, none, nil, nil, none, nil, nil) },
	"Reduce":                 func(v victim) error { return mpi.Reduce(v.c, mpi.Sum, none, none, 5) },
	"Allreduce":              func(v victim) error { return mpi.Allreduce(v.c, (*mpi.Op)(nil), none, none) },
	"Comm.Revoke":            func(v victim) error { return v.freed.Revoke() },
	"Comm.Failed":            func(v victim) error { return second(v.freed.Failed()) },
	"Comm.AckFailed":         func(v victim) error { return second(v.c.AckFailed(-1)) },
	"Comm.Agree":             func(v victim) error { return second(v.freed.Agree(0)) },
	"Comm.Iagree":            func(v victim) error { _, _, err := v.freed.Iagree(0); return err },
	"Comm.Shrink":            func(v victim) error { return second(v.freed.Shrink()) },
	"Comm.Ishrink":           func(v victim) error { _, _, err := v.freed.Ishrink(); return err },
	"Comm.Merge":             func(v victim) error { return second(v.c.Merge(false)) },
	"IntercommCreate":        func(v victim) error { return second(mpi.IntercommCreate(v.c, 1, v.c, 0, 0)) },
	"Comm.CreateGroup":       func(v victim) error { return second(v.c.CreateGroup(mpi.GroupEmpty, 0)) },
	"Allreduce, by the operator": func(v victim) error {
		return mpi.Allreduce(v.c.WithContext(ended()), mpi.BAnd, make([]float64, 1), make([]float64, 1))
	},
	"ReduceScatterBlock":  func(v victim) error { return mpi.ReduceScatterBlock(v.c, (*mpi.Op)(nil), none, none) },
	"ReduceScatter":       func(v victim) error { return mpi.ReduceScatter(v.c, (*mpi.Op)(nil), none, none, nil) },
	"Scan":                func(v victim) error { return mpi.Scan(v.c, (*mpi.Op)(nil), none, none) },
	"Exscan":              func(v victim) error { return mpi.Exscan(v.c, (*mpi.Op)(nil), none, none) },
	"Ibcast":              func(v victim) error { return second(mpi.Ibcast(v.c, none, 5)) },
	"Igather":             func(v victim) error { return second(mpi.Igather(v.c, none, none, 5)) },
	"Igatherv":            func(v victim) error { return second(mpi.Igatherv(v.c, none, none, nil, nil, 5)) },
	"Iscatter":            func(v victim) error { return second(mpi.Iscatter(v.c, none, none, 5)) },
	"Iscatterv":           func(v victim) error { return second(mpi.Iscatterv(v.c, none, none, nil, nil, 5)) },
	"Iallgather":          func(v victim) error { return second(mpi.Iallgather(v.c, make([]byte, 2), none)) },
	"Iallgatherv":         func(v victim) error { return second(mpi.Iallgatherv(v.c, none, none, nil, nil)) },
	"Ialltoall":           func(v victim) error { return second(mpi.Ialltoall(v.c, make([]byte, 2), none)) },
	"Ialltoallv":          func(v victim) error { return second(mpi.Ialltoallv(v.c, none, nil, nil, none, nil, nil)) },
	"Ireduce":             func(v victim) error { return second(mpi.Ireduce(v.c, mpi.Sum, none, none, 5)) },
	"Iallreduce":          func(v victim) error { return second(mpi.Iallreduce(v.c, (*mpi.Op)(nil), none, none)) },
	"IreduceScatterBlock": func(v victim) error { return second(mpi.IreduceScatterBlock(v.c, (*mpi.Op)(nil), none, none)) },
	"IreduceScatter":      func(v victim) error { return second(mpi.IreduceScatter(v.c, (*mpi.Op)(nil), none, none, nil)) },
	"Iscan":               func(v victim) error { return second(mpi.Iscan(v.c, (*mpi.Op)(nil), none, none)) },
	"Iexscan":             func(v victim) error { return second(mpi.Iexscan(v.c, (*mpi.Op)(nil), none, none)) },
	"PsendInit":           func(v victim) error { return second(mpi.PsendInit(v.c, none, 5, 0, 0)) },
	"PrecvInit":           func(v victim) error { return second(mpi.PrecvInit(v.c, none, 0, 0, 0)) },

	"Start":       func(v victim) error { return mpi.Start(v.spent()) },
	"Startall":    func(v victim) error { return mpi.Startall([]mpi.Request{*v.spent()}) },
	"Cancel":      func(v victim) error { return mpi.Cancel(v.received()) },
	"RequestFree": func(v victim) error { return mpi.RequestFree(v.spent()) },
	"OnComplete":  func(v victim) error { return mpi.OnComplete(v.spent(), func(mpi.Status, error) {}) },
	"OnComplete without a function": func(v victim) error {
		return mpi.OnComplete(v.spent(), nil)
	},
	"OnComplete, the callback": func(v victim) error {
		end := make(chan error, 1)
		ok(mpi.OnComplete(v.broken(), func(_ mpi.Status, err error) { end <- err }))
		return <-end
	},
	"RequestStatus":        func(v victim) error { _, _, err := mpi.RequestStatus(*v.broken()); return err },
	"Wait":                 func(v victim) error { return second(mpi.Wait(v.broken())) },
	"Wait for one at rest": func(v victim) error { return second(mpi.Wait(v.spent())) },
	"Test":                 func(v victim) error { _, _, err := mpi.Test(v.broken()); return err },
	"Waitall":              func(v victim) error { return mpi.Waitall([]mpi.Request{{}, *v.broken(), *v.broken()}, nil) },
	"Waitall with statuses": func(v victim) error {
		return mpi.Waitall([]mpi.Request{*v.broken(), *v.broken()}, make([]mpi.Status, 2))
	},
	"Waitall of a stale one": func(v victim) error {
		return mpi.Waitall([]mpi.Request{*v.spent(), *v.broken()}, make([]mpi.Status, 2))
	},
	"Waitall with too little": func(v victim) error { return mpi.Waitall([]mpi.Request{*v.spent()}, []mpi.Status{}) },
	"Testall":                 func(v victim) error { return second(mpi.Testall([]mpi.Request{*v.broken()}, make([]mpi.Status, 1))) },
	"Waitany":                 func(v victim) error { _, _, err := mpi.Waitany([]mpi.Request{{}, *v.broken()}); return err },
	"Testany":                 func(v victim) error { _, _, _, err := mpi.Testany([]mpi.Request{{}, *v.broken()}); return err },
	"Waitsome":                func(v victim) error { return second(mpi.Waitsome([]mpi.Request{*v.broken()}, make([]int, 1), nil)) },
	"Testsome": func(v victim) error {
		return second(mpi.Testsome([]mpi.Request{*v.broken()}, make([]int, 1), make([]mpi.Status, 1)))
	},
	"Waitsome with few indices": func(v victim) error { return second(mpi.Waitsome([]mpi.Request{*v.spent()}, nil, nil)) },
	"Imrecv": func(v victim) error {
		r := get(mpi.Imrecv(v.message(), none))
		return second(mpi.Wait(&r))
	},
	"GrequestComplete": func(v victim) error { return mpi.GrequestComplete(*v.spent()) },
	"Pready":           func(v victim) error { return mpi.Pready(0, *v.spent()) },
	"PreadyRange":      func(v victim) error { return mpi.PreadyRange(0, 1, v.parts()) },
	"PreadyList":       func(v victim) error { return mpi.PreadyList([]int{1, 0}, v.parts()) },
	"Parrived":         func(v victim) error { return second(mpi.Parrived(v.parts(), 0)) },

	"Partitioned.Ready":      func(v victim) error { return mpi.Partitions(v.parts()).Ready(7) },
	"Partitioned.ReadyRange": func(v victim) error { return mpi.Partitions(v.parts()).ReadyRange(0, 1) },
	"Partitioned.ReadyList":  func(v victim) error { return mpi.Partitions(v.parts()).ReadyList(1) },
	"Partitioned.Arrived":    func(v victim) error { return second(mpi.Partitions(v.parts()).Arrived(1)) },

	"Keyval.Get":    func(v victim) error { _, _, err := v.kv.Get(v.freed); return err },
	"Keyval.Set":    func(v victim) error { ok(v.kv.Free()); return v.kv.Set(v.c, 1) },
	"Keyval.Delete": func(v victim) error { var no *mpi.Keyval[int]; return no.Delete(v.c) },
	"Keyval.Delete whose function fails": func(v victim) error {
		kv := mpi.NewKeyval(nil, func(*mpi.Comm, int) error { return errors.New("it stays") })
		ok(kv.Set(v.c, 1))
		return kv.Delete(v.c)
	},

	"Comm.Barrier":        func(v victim) error { return v.freed.Barrier() },
	"Comm.Dup":            func(v victim) error { return second(v.freed.Dup()) },
	"Comm.DupWithInfo":    func(v victim) error { return second(v.c.DupWithInfo(hint("mpi_assert_no_any_tag", "perhaps"))) },
	"Comm.Free":           func(v victim) error { return v.freed.Free() },
	"Comm.BufferAttach":   func(v victim) error { return errors.Join(v.c.BufferAttach(none), v.c.BufferAttach(none)) },
	"Comm.BufferDetach":   func(v victim) error { return second(v.freed.BufferDetach()) },
	"Comm.BufferFlush":    func(v victim) error { return v.freed.BufferFlush() },
	"Comm.BufferIflush":   func(v victim) error { return second(v.freed.BufferIflush()) },
	"Comm.SetErrhandler":  func(v victim) error { return v.freed.SetErrhandler(nil) },
	"Comm.CallErrhandler": func(v victim) error { return v.c.CallErrhandler(errors.New("of the program")) },
	"Comm.Disconnect":     func(v victim) error { return v.freed.Disconnect() },
	"Comm.Disconnect, by its context": func(v victim) error {
		get(mpi.Irecv(v.c, none, 0, 9))
		return v.c.WithContext(ended()).Disconnect()
	},
	"Comm.SetName":      func(v victim) error { return v.c.SetName(strings.Repeat("x", mpi.MaxObjectName+1)) },
	"WinCreate":         func(v victim) error { return second(mpi.WinCreate(v.c, none, mpi.WinOptions{DispUnit: -1})) },
	"WinAllocate":       func(v victim) error { return second(mpi.WinAllocate[byte](v.c, -1, mpi.WinOptions{})) },
	"WinAllocateShared": func(v victim) error { return second(mpi.WinAllocateShared[byte](v.c, -1, mpi.WinOptions{})) },
	"WinCreateDynamic":  func(v victim) error { return second(mpi.WinCreateDynamic(v.freed, mpi.WinOptions{})) },
	"Comm.SetInfo":      func(v victim) error { return v.c.SetInfo(hint("mpi_assert_exact_length", "")) },
	"Comm.Info":         func(v victim) error { return second(v.freed.Info()) },
}

func hint(key, value string) *mpi.Info { return get(mpi.NewInfo(key, value)) }

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// belongs are the types of the objects that lead to a communicator.
var belongs = map[string]bool{"Comm": true, "Request": true, "Message": true, "Partitioned": true}

func TestEveryErrorOfACommunicatorsCallsPassesItsHandlerOnce(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Name.IsExported() {
				if name, does := about(d, belongs); does {
					missing[name] = true
				}
			}
		}
	}
	for name := range failures {
		name, _, _ = strings.Cut(name, " ")
		delete(missing, strings.TrimSuffix(name, ","))
	}
	for name := range missing {
		t.Errorf("no failure of %s is tried", name)
	}
	for name, fail := range ordered(failures) {
		t.Run(name, func(t *testing.T) {
			act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
				var calls atomic.Int32
				h := seer(&calls)
				v := victim{get(c.Dup()), get(c.Dup()), mpi.NewKeyval[int](nil, nil)}
				ok(v.freed.SetErrhandler(h))
				ok(v.freed.Free())
				ok(v.c.SetErrhandler(h))
				checkSeen(t, name, &calls, fail(v))
			})
		})
	}
}

// about reports whether an exported function returns errors and is given one of the
// types. A method has its type before its name.
func about(d *ast.FuncDecl, belongs map[string]bool) (name string, does bool) {
	results := d.Type.Results
	if results == nil || typeName(results.List[len(results.List)-1].Type) != "error" {
		return "", false
	}
	name = d.Name.Name
	if d.Recv != nil {
		of := typeName(d.Recv.List[0].Type)
		name, does = of+"."+name, belongs[of]
	}
	for _, p := range d.Type.Params.List {
		does = does || belongs[typeName(p.Type)]
	}
	return name, does
}

// typeName is the name of a type below its pointers, slices and parameters, or "".
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ArrayType:
		return typeName(e.Elt)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// The handler that was there at the Dup is the duplicate's too; a later one is not.
func TestADuplicateHasTheHandlerOfItsParent(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls atomic.Int32
		h := seer(&calls)
		if c.Errhandler() != mpi.ErrorsReturn {
			t.Errorf("the handler at first is %v", c.Errhandler())
		}
		ok(c.SetErrhandler(h))
		if w.Comm().Errhandler() != h {
			t.Error("another handle of the communicator has another handler")
		}
		d := get(c.Dup())
		ok(c.SetErrhandler(nil))
		if d.Errhandler() != h || c.Errhandler() != mpi.ErrorsReturn || mpi.NewErrhandler(nil) != mpi.ErrorsReturn {
			t.Error("the duplicate has lost its handler, or the parent has kept its own")
		}
		want(t, "Send on the parent", mpi.Send(c, none, 3, 0), mpi.ErrRank)
		checkSeen(t, "Send on the duplicate", &calls, mpi.Send(d, none, 3, 0))
		ok(d.CallErrhandler(nil))
		if calls.Load() != 0 {
			t.Error("no error has been shown to the handler")
		}
	})
}

// A handler can't make a failed call succeed.
func TestAHandlerThatReturnsNilLeavesTheError(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		ok(c.SetErrhandler(mpi.NewErrhandler(func(*mpi.Comm, error) error { return nil })))
		want(t, "Send", mpi.Send(c, none, 3, 0), mpi.ErrRank)
	})
}

// Of requests of two communicators only the first that has failed tells its own.
func TestOnlyTheHandlerOfTheFirstFailedRequestIsCalled(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls [2]atomic.Int32
		var vs [2]victim
		for i := range vs {
			vs[i].c = get(c.Dup())
			ok(vs[i].c.SetErrhandler(seer(&calls[i])))
		}
		for _, statuses := range [][]mpi.Status{nil, make([]mpi.Status, 3)} {
			fine := get(mpi.Isend(vs[0].c, none, mpi.ProcNull, 0))
			rs := []mpi.Request{fine, *vs[1].broken(), *vs[0].broken()}
			checkSeen(t, "Waitall", &calls[1], mpi.Waitall(rs, statuses))
			if n := calls[0].Load(); n != 0 {
				t.Errorf("the other handler was called %d times", n)
			}
			if statuses == nil {
				continue
			}
			for i, st := range statuses {
				if (st.Err == nil) != (i == 0) || st.Err != nil && !errors.Is(st.Err, mpi.ErrTruncate) || errors.Is(st.Err, errSeen) {
					t.Errorf("status %d has the error %v", i, st.Err)
				}
			}
		}
	})
}

// A request outlives its communicator, and so does the handler.
func TestTheRequestOfAFreedCommunicatorHasItsHandler(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls atomic.Int32
		v := victim{c: get(c.Dup())}
		ok(v.c.SetErrhandler(seer(&calls)))
		r := v.broken()
		ok(v.c.Free())
		checkSeen(t, "Wait", &calls, second(mpi.Wait(r)))
	})
}

// What has no communicator is Self's.
func TestErrorsWithoutACommunicatorAreSelfs(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls atomic.Int32
		ok(w.Self().SetErrhandler(seer(&calls)))
		ok(w.BufferAttach(make([]byte, 1000)))
		checkSeen(t, "BufferAttach", &calls, w.BufferAttach(make([]byte, 1000)))
		fails := func() (mpi.Status, error) { return mpi.Status{}, errors.New("it has failed") }
		for what, wait := range map[string]func(r mpi.Request) error{
			"Wait":    func(r mpi.Request) error { return second(mpi.Wait(&r)) },
			"Waitall": func(r mpi.Request) error { return mpi.Waitall([]mpi.Request{{}, r}, nil) },
			"Waitany": func(r mpi.Request) error { _, _, err := mpi.Waitany([]mpi.Request{r}); return err },
		} {
			r := get(mpi.GrequestStart(w, fails, nil, nil))
			ok(mpi.GrequestComplete(r))
			checkSeen(t, what+" for a generalized request", &calls, wait(r))
		}
	})
}

// After Finalize there is nothing for a handler to save.
func TestAFinalizedWorldCallsNoHandler(t *testing.T) {
	var calls atomic.Int32
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		ok(c.SetErrhandler(seer(&calls)))
		r := get(mpi.Irecv(c, none, 0, 1))
		ok(w.Finalize())
		want(t, "Send", mpi.Send(c, none, 0, 0), mpi.ErrComm)
		want(t, "Wait", second(mpi.Wait(&r)), mpi.ErrComm)
	})
	if n := calls.Load(); n != 0 {
		t.Errorf("the handler was called %d times", n)
	}
}

// Many communicators that were freed with a handler leave a bounded number behind.
func TestFreedCommunicatorsWithHandlersAreForgotten(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls atomic.Int32
		var rs []mpi.Request
		for i := range mpi.KeptFreed + 2 {
			d := get(c.Dup())
			ok(d.SetErrhandler(seer(&calls)))
			if i < 2 || i == mpi.KeptFreed+1 {
				rs = append(rs, *victim{c: d}.broken())
			}
			ok(d.Free())
		}
		if n := mpi.Known(w); n > mpi.KeptFreed+2 {
			t.Errorf("%d communicators are known", n)
		}
		for i := range slices.Backward(rs) {
			err := second(mpi.Wait(&rs[i]))
			if errors.Is(err, errSeen) != (i == 2) || !errors.Is(err, mpi.ErrTruncate) {
				t.Errorf("request %d: %v", i, err)
			}
		}
	})
}
