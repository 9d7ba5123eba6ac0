package mpi_test

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/mpi"
)

// callable are the functions of the package, and the methods of the values, by the names
// that errors have for them.
func callable(methods ...any) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for name, f := range functions {
		all[name] = reflect.ValueOf(f)
	}
	for _, v := range methods {
		r := reflect.ValueOf(v)
		of := regexp.MustCompile(`\w+`).FindString(strings.TrimPrefix(strings.TrimPrefix(r.Type().String(), "*"), "mpi."))
		for i := range r.NumMethod() {
			all[of+"."+r.Type().Method(i).Name] = r.Method(i)
		}
	}
	return all
}

// callWith calls f with the values of the types of its parameters, zero ones where there
// are none, and returns its error.
func callWith(f reflect.Value, values ...any) error {
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		in := f.Type().In(i)
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			break
		}
		arg := reflect.Zero(in)
		for _, v := range values {
			if reflect.TypeOf(v).AssignableTo(in) {
				arg = reflect.ValueOf(v)
				break
			}
		}
		args = append(args, arg)
	}
	out := f.Call(args)
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// hasParameter reports whether f has a parameter of the type.
func hasParameter(f reflect.Value, t reflect.Type) bool {
	for i := range f.Type().NumIn() {
		if f.Type().In(i) == t {
			return true
		}
	}
	return false
}

func TestAZeroOpIsToldAsSuch(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			win := get(mpi.WinAllocate[byte](c, 8, mpi.WinOptions{}))
			ok(win.LockAll())
			all, n := callable(c, win.Win, win, mpi.Sum), 0
			for _, name := range slices.Sorted(maps.Keys(all)) {
				f := all[name]
				if !hasParameter(f, reflect.TypeFor[*mpi.Op]()) && !hasParameter(f, reflect.TypeFor[mpi.BufOperator]()) {
					continue
				}
				n++
				bufs := []mpi.Buf{mpi.Of([]byte{1}), mpi.OfStructs([]struct{ A, B int32 }{{1, 2}}), {}}
				if name == "Win.FetchAndOp" {
					bufs = bufs[:1] // the only one that it takes
				}
				for _, b := range bufs {
					err := callWith(f, c, win.Win, new(mpi.Op), []byte{1}, b, []int{1}, new(byte), mpi.TypeByte)
					wantWords(t, name, err, mpi.ErrOp, "a zero Op")
				}
			}
			if n < 40 {
				t.Errorf("only %d calls take an operator", n)
			}
			wantWords(t, "Op.ReduceLocal", new(mpi.Op).ReduceLocal(mpi.Of([]byte{1}), mpi.Of([]byte{1})), mpi.ErrOp, "a zero Op")
			ok(win.UnlockAll())
			ok(win.Free())
		})
	})
}

// named is the form of every error: the call, once, as MPI names it.
var named = regexp.MustCompile(`^mpi\.(?:(\w+)\.)?(\w+): `)

// isNamed reports whether an error names the call. A method that does what a function does
// has the function's name; other forms of a call have that of the call.
func isNamed(err error, call string) bool {
	m := named.FindStringSubmatch(err.Error())
	if m == nil || strings.Count(err.Error(), "mpi.") > 1 {
		return false
	}
	of, name, method := strings.Cut(call, ".")
	if !method {
		of, name = "", call
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, "InPlace"), "Now")
	switch {
	case m[1] != "" && !strings.HasPrefix(of, m[1]): // Op's calls are also OpOf's
		return false
	case of == "Partitioned": // whose calls are Pready and RequestFree, say
		return strings.Contains(strings.ToLower(m[2]), strings.ToLower(name))
	}
	return m[2] == name || name == "Epoch" && m[2] == "Lock"
}

// Each call's errors begin with its name, once: those of calls with nothing, and those of
// calls with wrong numbers and texts.
func TestErrorsBeginWithTheCall(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		win := get(mpi.WinAllocate[byte](c, 8, mpi.WinOptions{}))
		var nothings []any
		for _, vs := range values {
			nothings = append(nothings, vs...)
		}
		n := 0
		for _, in := range []struct{ receivers, args []any }{
			{receivers: nothings},
			{[]any{c, win.Win, win, w, mpi.Sum}, []any{c, win.Win, w, -77, "", mpi.Of([]byte{1}), new(mpi.Op)}},
		} {
			all := callable(in.receivers...)
			for _, call := range slices.Sorted(maps.Keys(all)) {
				f, last := all[call], call[strings.Index(call, ".")+1:]
				out := f.Type().NumOut()
				if out == 0 || f.Type().Out(out-1) != reflect.TypeFor[error]() || in.args != nil && slices.Contains([]string{"Finalize", "Free", "Disconnect", "Revoke"}, last) {
					continue // the latter end what the others use
				}
				if err := callWith(f, in.args...); err != nil {
					if n++; !isNamed(err, call) {
						t.Errorf("%s: %q", call, err)
					}
				}
			}
		}
		if n < 400 {
			t.Errorf("only %d calls have failed", n)
		}
		ok(win.Free())
	})
}

// An error of a transport names the communicator's rank, also one that is no death.
func TestErrorsOfTransportsNameRanksOfTheCommunicator(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		back := get(c.Split(0, -c.Rank()))
		for _, why := range []error{fabric.ErrPeerDown, fabric.ErrUnreachable, fabric.ErrBadRemote, fabric.ErrUnsupported, unix.EPERM} {
			err := &fabric.Error{Op: "reach memory", Peer: 2, HasPeer: true, Err: why}
			if text := mpi.Fail(back, err).Error(); !strings.Contains(text, "rank 0 of the communicator: reach memory: ") || strings.Contains(text, "rank 2") {
				t.Error(text)
			}
			if text := mpi.Fail(c, err).Error(); !strings.Contains(text, "reach memory (rank 2): ") {
				t.Error(text)
			}
		}
		ok(back.Free())
	})
}

// A special number where none is allowed is called by its name.
func TestSpecialNumbersAreCalledByTheirNames(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			win := get(mpi.WinAllocate[byte](c, 8, mpi.WinOptions{}))
			b := []byte{1}
			request := func(_ mpi.Request, err error) error { return err }
			status := func(_ mpi.Status, err error) error { return err }
			part := func(_ *mpi.Partitioned, err error) error { return err }
			comm := func(_ *mpi.Comm, err error) error { return err }
			for _, bad := range []struct {
				what  string
				err   error
				class mpi.Class
				name  string
			}{
				{"Send", mpi.Send(c, b, mpi.AnySource, 0), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"Send of a Buf", c.Send(mpi.Of(b), 0, mpi.AnyTag), mpi.ErrTag, "-2 is AnyTag, a wildcard"},
				{"Isend", request(mpi.Isend(c, b, mpi.Root, 0)), mpi.ErrRank, "-4 is Root, for"},
				{"SendInit", request(mpi.SendInit(c, b, 0, mpi.AnyTag)), mpi.ErrTag, "-2 is AnyTag, a wildcard"},
				{"Recv", status(mpi.Recv(c, b, mpi.AnyTag, 0)), mpi.ErrRank, "-2 is AnyTag, a wildcard for the tag"},
				{"Irecv", request(mpi.Irecv(c, b, 0, mpi.AnySource)), mpi.ErrTag, "-1 is AnySource, a wildcard for the source"},
				{"Sendrecv", status(mpi.Sendrecv(c, b, mpi.AnySource, 0, b, 0, 0)), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"Probe", status(mpi.Probe(c, mpi.Root, 0)), mpi.ErrRank, "-4 is Root, for"},
				{"PsendInit", part(mpi.PsendInit(c, b, 1, mpi.AnySource, 0)), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"PrecvInit", part(mpi.PrecvInit(c, b, 1, mpi.AnySource, 0)), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"PrecvInit", part(mpi.PrecvInit(c, b, 1, 0, mpi.AnyTag)), mpi.ErrTag, "-2 is AnyTag, a wildcard"},
				{"Bcast", mpi.Bcast(c, b, mpi.AnySource), mpi.ErrRoot, "-1 is AnySource, a wildcard"},
				{"Bcast", mpi.Bcast(c, b, mpi.ProcNull), mpi.ErrRoot, "-3 is ProcNull, no process"},
				{"Gather", mpi.Gather(c, b, b, mpi.Root), mpi.ErrRoot, "-4 is Root, for"},
				{"Put", mpi.Put(win.Win, b, mpi.AnySource, 0), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"Lock", win.Lock(mpi.LockShared, mpi.AnySource), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"IntercommCreate", comm(mpi.IntercommCreate(c, 0, c, mpi.AnySource, 0)), mpi.ErrRank, "-1 is AnySource, a wildcard"},
				{"IntercommCreate", comm(mpi.IntercommCreate(c, mpi.ProcNull, c, 0, 0)), mpi.ErrRank, "-3 is ProcNull, no process"},
				{"CreateGroup", comm(c.CreateGroup(c.Group(), mpi.AnyTag)), mpi.ErrTag, "-2 is AnyTag, a wildcard"},
			} {
				wantWords(t, bad.what, bad.err, bad.class, bad.name, " here is one ", "0 to ")
			}
			ok(win.Free())
		})
	})
}
