package mpi

import (
	"reflect"
	"sync"

	"github.com/weft-mpi/weft/internal/datatype"
)

// goTypes has what TypeOf has returned, by Go type.
var goTypes sync.Map

// TypeOf is the committed type of a Go type: a scalar, or a struct or an array of such,
// nested as deep as you like. Its extent is the size of T. All fields are sent, exported or not,
// but for those named _ and those with the tag `mpi:"-"`; a receive leaves these and
// padding as they are. The same T has the same Datatype.
//
// A T that holds pointers (pointers, slices, strings, maps, channels, functions,
// interfaces) is refused with ErrType and the field's name. Local.
func TypeOf[T any]() (*Datatype, error) {
	d, err := typeOf[T]()
	return d, raiseSelf(err)
}

// typeOf is TypeOf for a call that raises the error.
func typeOf[T any]() (*Datatype, error) {
	g := reflect.TypeFor[T]()
	if k, ok := datatype.KindOf(g); ok {
		return kinds[k], nil
	}
	if d, ok := goTypes.Load(g); ok {
		return d.(*Datatype), nil
	}
	t, err := datatype.Reflect(g)
	if err != nil {
		return nil, typeFailure("TypeOf", err)
	}
	made := &Datatype{t: t, shared: true}
	if name := g.String(); len(name) <= MaxObjectName {
		made.name.Store(&name)
	}
	d, _ := goTypes.LoadOrStore(g, made)
	return d.(*Datatype), nil
}
