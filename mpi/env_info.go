package mpi

import (
	"iter"
	"slices"
	"strings"
)

// Info is a list of keys with values in the order in which they were set
// (MPI_Info, MPI-4.0 §10): hints for the library, of which each call takes those
// that it knows and ignores the others. nil is an empty list that can't be changed
// (MPI_INFO_NULL). Calls that are given one copy it. It is for one goroutine at a
// time.
type Info struct{ list []infoEntry }

type infoEntry struct{ key, value string }

// Limits of Info, in bytes.
const (
	// MaxInfoKey is the longest key (MPI_MAX_INFO_KEY, MPI-4.0 §10, without C's
	// final zero).
	MaxInfoKey = 255
	// MaxInfoValue is the longest value (MPI_MAX_INFO_VAL, MPI-4.0 §10, without C's
	// final zero).
	MaxInfoValue = 1023
)

// NewInfo makes an Info of keys, each followed by its value (MPI_Info_create,
// MPI-4.0 §10). The errors are those of Set; a key without a value is ErrArg.
// Local.
func NewInfo(pairs ...string) (*Info, error) {
	const call = "NewInfo"
	if len(pairs)%2 != 0 {
		return nil, raiseSelf(badArg(call, ErrArg, "%d strings: give keys with their values, an even number", len(pairs)))
	}
	i := &Info{}
	for p := range slices.Chunk(pairs, 2) {
		if err := i.set(call, p[0], p[1]); err != nil {
			return nil, raiseSelf(err)
		}
	}
	return i, nil
}

// Set sets the value of a key (MPI_Info_set, MPI-4.0 §10). A new key comes last.
// A key that is empty or too long is ErrInfoKey, a value that is too long
// ErrInfoValue; neither may have a zero byte. Local.
func (i *Info) Set(key, value string) error {
	return raiseSelf(i.set("Info.Set", key, value))
}

func (i *Info) set(call, key, value string) error {
	switch {
	case i == nil:
		return badArg(call, ErrInfo, "the Info is nil: make one with NewInfo")
	case key == "" || len(key) > MaxInfoKey || strings.ContainsRune(key, 0):
		return badArg(call, ErrInfoKey, "a key of %d bytes: it has 1 to %d, none of them zero", len(key), MaxInfoKey)
	case len(value) > MaxInfoValue || strings.ContainsRune(value, 0):
		return badArg(call, ErrInfoValue, "a value of %d bytes for %q: it has at most %d, none of them zero", len(value), key, MaxInfoValue)
	}
	if at := i.find(key); at >= 0 {
		i.list[at].value = value
	} else {
		i.list = append(i.list, infoEntry{key, value})
	}
	return nil
}

// Get returns the value of a key, and whether it is set (MPI_Info_get_string,
// MPI-4.0 §10). Local.
func (i *Info) Get(key string) (value string, ok bool) {
	if at := i.find(key); at >= 0 {
		return i.list[at].value, true
	}
	return "", false
}

// Delete removes a key, which the error ErrInfoNokey says is not set
// (MPI_Info_delete, MPI-4.0 §10). Local.
func (i *Info) Delete(key string) error {
	at := i.find(key)
	if at < 0 {
		return raiseSelf(badArg("Info.Delete", ErrInfoNokey, "the key %q is not set", key))
	}
	i.list = slices.Delete(i.list, at, at+1)
	return nil
}

// Len is the number of keys (MPI_Info_get_nkeys, MPI-4.0 §10). Local.
func (i *Info) Len() int {
	if i == nil {
		return 0
	}
	return len(i.list)
}

// Keys lists the keys in their order (MPI_Info_get_nthkey, MPI-4.0 §10). The
// caller owns the list. Local.
func (i *Info) Keys() []string {
	var keys []string
	for key := range i.All() {
		keys = append(keys, key)
	}
	return keys
}

// All yields the keys with their values, in their order. Local.
func (i *Info) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		if i == nil {
			return
		}
		for _, e := range i.list {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// Dup returns a copy (MPI_Info_dup, MPI-4.0 §10), which can be changed also where
// i is nil. Local.
func (i *Info) Dup() *Info {
	d := &Info{}
	if i != nil {
		d.list = slices.Clone(i.list)
	}
	return d
}

// find is the place of a key, or -1.
func (i *Info) find(key string) int {
	if i == nil {
		return -1
	}
	return slices.IndexFunc(i.list, func(e infoEntry) bool { return e.key == key })
}
