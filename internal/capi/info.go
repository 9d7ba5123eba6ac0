package capi

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/mpi"
)

// Info objects (MPI-5.0 §10). Threads may use one at once, so what is in it never changes:
// a call that sets a key puts a copy in its place.

type info struct {
	now atomic.Pointer[mpi.Info]
	mu  sync.Mutex // for changes
}

func newInfo(o *mpi.Info) *info {
	i := &info{}
	i.now.Store(o)
	return i
}

// change changes the info object that argument 0 is.
func (a *Args) change(f func(*mpi.Info) error) error {
	o := infos.get(a.words[0])
	switch {
	case o == nil:
		return fail(mpi.ErrInfo, "the info object is none: it is null, freed, or a handle of another kind")
	case a.words[0] == infoEnv:
		return fail(mpi.ErrInfo, "MPI_INFO_ENV can't be changed: change what MPI_Info_dup makes of it")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	next := o.now.Load().Dup()
	if err := f(next); err != nil {
		return err
	}
	o.now.Store(next)
	return nil
}

// key is the key that argument 1 is.
func (a *Args) key() (string, error) {
	key := a.string(1)
	if key == "" || len(key) > mpi.MaxInfoKey {
		return "", fail(mpi.ErrInfoKey, "a key of %d bytes: it has 1 to %d", len(key), mpi.MaxInfoKey)
	}
	return key, nil
}

func infoCreate(a *Args) error {
	o, err := mpi.NewInfo()
	return a.madeInfo(0, o, err)
}

// infoCreateEnv tells of argc and argv if the program gives them.
func infoCreateEnv(a *Args) error {
	o := mpi.InfoEnv()
	if argv := array[uint64](a, 1, a.int(0)); len(argv) > 0 && argv[0] != 0 {
		words := make([]string, 0, len(argv))
		for _, at := range argv {
			words = append(words, (&Args{words: [16]uint64{at}}).string(0))
		}
		for key, value := range map[string]string{"command": words[0], "argv": strings.Join(words[1:], " ")} {
			if len(value) <= mpi.MaxInfoValue {
				_ = o.Set(key, value) // it has no error: key and value are short enough
			}
		}
	}
	return a.setInfo(2, o)
}

func infoDup(a *Args) error { return a.setInfo(1, a.info(0).Dup()) }

func infoFree(a *Args) error {
	if *a.handleAt(0) == infoEnv {
		return fail(mpi.ErrInfo, "MPI_INFO_ENV can't be freed")
	}
	drop(a, 0, infos, infoNull)
	return nil
}

func infoSet(a *Args) error {
	return a.change(func(o *mpi.Info) error { return o.Set(a.string(1), a.string(2)) })
}

func infoDelete(a *Args) error {
	key, err := a.key()
	if err != nil {
		return err
	}
	return a.change(func(o *mpi.Info) error { return o.Delete(key) })
}

// infoGet is MPI_Info_get: valuelen does not count the final zero.
func infoGet(a *Args) error {
	key, err := a.key()
	if err == nil && a.int(2) < 0 {
		err = fail(mpi.ErrArg, "room for a value of %d bytes", a.int(2))
	}
	if err != nil {
		return err
	}
	value, set := a.info(0).Get(key)
	if set {
		a.setString(3, value, a.int(2)+1)
	}
	a.setFlag(4, set)
	return nil
}

// infoGetString is MPI_Info_get_string: buflen counts the final zero, and is the room for
// the value before, and what the value needs behind.
func infoGetString(a *Args) error {
	room, err := a.room(2, 3)
	if err != nil {
		return err
	}
	key, err := a.key()
	if err != nil {
		return err
	}
	value, set := a.info(0).Get(key)
	if set {
		a.setString(3, value, room)
		a.setInt(2, len(value)+1)
	}
	a.setFlag(4, set)
	return nil
}

// room is the size of the string at argument to, which argument i points to.
func (a *Args) room(i, to int) (int, error) {
	n := a.ints(i, 1)
	switch {
	case len(n) == 0 || n[0] > 0 && a.pointer(to) == nil:
		return 0, errNull
	case n[0] < 0:
		return 0, fail(mpi.ErrArg, "room for a string of %d bytes", n[0])
	}
	return n[0], nil
}

func infoGetValuelen(a *Args) error {
	key, err := a.key()
	if err != nil {
		return err
	}
	value, set := a.info(0).Get(key)
	if set {
		a.setInt(2, len(value))
	}
	a.setFlag(3, set)
	return nil
}

func infoGetNkeys(a *Args) error {
	a.setInt(1, a.info(0).Len())
	return nil
}

func infoGetNthkey(a *Args) error {
	keys := a.info(0).Keys()
	n := a.int(1)
	if uint(n) >= uint(len(keys)) {
		return fail(mpi.ErrArg, "key %d of an info object that has %d, numbered from 0", n, len(keys))
	}
	a.setString(2, keys[n], mpi.MaxInfoKey+1)
	return nil
}
