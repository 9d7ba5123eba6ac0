package datatype

import (
	"cmp"
	"fmt"
	"reflect"
	"sync"
)

// FieldError is the error of a Go type that can't be sent.
type FieldError struct {
	Path string       // the part of the type: "Particle.Cell.Next"
	Type reflect.Type // of that part
	Why  string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s, a %v, can't be sent: %s", e.Path, e.Type, e.Why)
}

// reflected has the types that Reflect has made, by their Go types.
var reflected sync.Map

// TypeOf returns the committed type of T: a basic kind, or a struct or an array made
// of such, nested as deep as you like. Its extent is T's size. Fields are sent
// whether or not they are exported. Not sent are padding, fields named _, and those
// with the tag `mpi:"-"`: a receive leaves them as they are.
//
// Types that hold pointers are refused with a *FieldError that names the field:
// pointers, slices, strings, maps, channels, functions and interfaces; uintptr, too.
// The result is kept: the same T has the same Type.
func TypeOf[T any]() (*Type, error) { return Reflect(reflect.TypeFor[T]()) }

// Reflect is TypeOf for a type that is known when the program runs.
func Reflect(goType reflect.Type) (*Type, error) {
	if goType == nil {
		return nil, call("Reflect").bad(1, "goType", ErrNilType)
	}
	if k, ok := KindOf(goType); ok {
		return Of(k), nil
	}
	if t, ok := reflected.Load(goType); ok {
		return t.(*Type), nil
	}
	t, err := reflectType(goType, cmp.Or(goType.Name(), goType.String()))
	if err != nil {
		return nil, err
	}
	t.commit()
	kept, _ := reflected.LoadOrStore(goType, t)
	return kept.(*Type), nil
}

func reflectType(g reflect.Type, path string) (*Type, error) {
	if k, ok := KindOf(g); ok {
		return Of(k), nil
	}
	switch g.Kind() {
	case reflect.Array:
		old, err := reflectType(g.Elem(), path+"[]")
		if err != nil {
			return nil, err
		}
		return Contiguous(g.Len(), old)
	case reflect.Struct:
		return reflectStruct(g, path)
	case reflect.Uintptr:
		return nil, &FieldError{path, g, `an address means nothing to another rank: use uint64, or leave the field out with the tag mpi:"-"`}
	}
	return nil, &FieldError{path, g, `it holds a pointer: send what it points to, or leave the field out with the tag mpi:"-"`}
}

func reflectStruct(g reflect.Type, path string) (*Type, error) {
	var lens, disps []int
	var types []*Type
	for i := range g.NumField() {
		f := g.Field(i)
		tag, tagged := f.Tag.Lookup("mpi")
		if tagged && tag != "-" {
			return nil, &FieldError{path + "." + f.Name, f.Type, fmt.Sprintf(`the tag mpi:%q is unknown: there is mpi:"-" only`, tag)}
		}
		if tagged || f.Name == "_" {
			continue
		}
		t, err := reflectType(f.Type, path+"."+f.Name)
		if err != nil {
			return nil, err
		}
		lens, disps, types = append(lens, 1), append(disps, int(f.Offset)), append(types, t)
	}
	t, err := Struct(lens, disps, types)
	if err != nil {
		return nil, err
	}
	// Without markers, unless a field that is left out makes the struct longer than
	// its elements.
	if lb, extent := t.Extent(); lb != 0 || extent != int(g.Size()) {
		return Resized(t, 0, int(g.Size()))
	}
	return t, nil
}
