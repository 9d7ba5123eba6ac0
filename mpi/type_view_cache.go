package mpi

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/datatype"
)

// maxView is how many numbers a shape may have whose type is kept.
const maxView = 8

// viewKey is the shape of a view: the numbers of a Strided, for which dims is 0, or the
// sizes and subsizes of a Subarray.
type viewKey struct {
	kind  datatype.Kind
	dims  int
	shape [maxView]int
}

// slot is where the key's type is kept.
func (k *viewKey) slot() uint {
	h := uint64(k.kind)<<8 | uint64(k.dims)
	for _, n := range k.shape {
		h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return uint(h % uint64(len(viewTable{})))
}

// viewTable keeps types of views, one in each slot: the last shape that came there. A
// store in get is seen by a load there, and brings the view with it.
type viewTable [256]atomic.Pointer[keptView]

type keptView struct {
	key viewKey
	d   *Datatype
}

var views viewTable

// get returns the type of a shape, which it makes unless it is there.
func (v *viewTable) get(call string, key viewKey, build func() (*datatype.Type, error)) (*Datatype, error) {
	slot := &v[key.slot()]
	if kept := slot.Load(); kept != nil && kept.key == key {
		return kept.d, nil
	}
	d, err := viewOf(call, key.kind, build)
	if err == nil {
		slot.Store(&keptView{key, d})
	}
	return d, err
}
