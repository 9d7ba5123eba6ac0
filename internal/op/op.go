package op

import (
	"errors"
	"fmt"
	"strings"
)

// Func sets to[i] = lower[i] ⊕ upper[i] for each element. The three slices are
// equally long, a whole number of elements, and aligned for them. to is lower, or
// upper, or overlaps neither; lower and upper may be one. Only to is written. No
// slice is kept after the return.
//
// If the caller breaks the rule on lengths, the elements that all three slices
// hold whole are combined, and the others are left alone.
type Func func(lower, upper, to []byte)

// Op is an operator. It does not change and is safe for concurrent use. An Op that
// is the zero value fits no element type.
type Op struct {
	name     string
	code     Code // 0 for the user's
	commutes bool
	user     bool
	funcs    table
	custom   Func // for elements that have no kind
	of       any  // what they are
}

// table has an operator's Func for each kind that it fits.
type table [lastKind + 1]Func

// New returns an operator of the user's for elements of one kind. Its Func may
// panic or block: it is never called under ownership of the loop. It has to be
// associative. With a nil Func or an unknown kind the operator fits no element
// type. See [Of] and [Vector] for functions of typed elements.
func New(name string, k Kind, commutes bool, f Func) *Op {
	o := &Op{name: name, commutes: commutes, user: true}
	if k.known() {
		o.funcs[k] = f
	}
	return o
}

// Custom returns an operator of the user's for elements that have no kind. of is what
// they are: it means something to the caller alone, and errors print it behind "it
// takes". f is as with [New]; it may be nil, and then the operator fits nothing.
func Custom(name string, commutes bool, of any, f Func) *Op {
	return &Op{name: name, commutes: commutes, user: true, custom: f, of: of}
}

// Custom returns what Custom was given for the operator, or nil and nil.
func (o *Op) Custom() (of any, f Func) { return o.of, o.custom }

func (o *Op) String() string { return o.name }

// Commutes reports whether operands may be swapped (MPI_Op_commutative, MPI-4.0
// §6.9.7).
func (o *Op) Commutes() bool { return o.commutes }

// User reports whether the operator is the user's code.
func (o *Op) User() bool { return o.user }

// Zero reports whether the operator is the zero Op, which fits nothing: ErrZero.
func (o *Op) Zero() bool { return o.code == 0 && !o.user }

// ErrZero is the error of the zero Op in place of any other.
var ErrZero = errors.New("the operator is a zero Op, which combines nothing: give one such as Sum, or what NewOp returns")

// Func returns the operator for reductions of elements of kind k, or a *KindError,
// which it is for [Replace] and [NoOp], too. It does not allocate unless it fails.
func (o *Op) Func(k Kind) (Func, error) {
	if o.windowOnly() {
		return nil, &KindError{o, k}
	}
	return o.fit(k)
}

func (o *Op) fit(k Kind) (Func, error) {
	if k.known() {
		if f := o.funcs[k]; f != nil {
			return f, nil
		}
	}
	if o.Zero() {
		return nil, ErrZero
	}
	return nil, &KindError{o, k}
}

// KindError says that an operator does not fit an element type.
type KindError struct {
	Op   *Op
	Kind Kind
}

func (e *KindError) Error() string {
	if e.Op.windowOnly() && e.Kind.known() {
		return fmt.Sprintf("the operator %v is for accumulate operations on windows only: give one such as Sum", e.Op)
	}
	takes := e.Op.takes()
	if takes == "" {
		return fmt.Sprintf("the operator %v fits no element type: give it a function that is not nil", e.Op)
	}
	return fmt.Sprintf("the operator %v is not defined for %v: it takes %s", e.Op, e.Kind, takes)
}

// families are the kinds that an error names by one word if all of them are meant.
var families = [...]struct {
	name        string
	first, last Kind
}{{"bool", Bool, Bool}, {"integers", Int8, Uint64}, {"floating-point numbers", Float32, Float64},
	{"complex numbers", Complex64, Complex128}, {"bytes", Byte, Byte}, {"pairs of a value and an index", FloatInt, TwoDouble}}

// takes lists the element types of an operator for people.
func (o *Op) takes() string {
	if o.of != nil {
		return fmt.Sprint(o.of)
	}
	var all []string
	for _, f := range families {
		var some []string
		for k := f.first; k <= f.last; k++ {
			if o.funcs[k] != nil {
				some = append(some, k.String())
			}
		}
		if len(some) == int(f.last-f.first)+1 {
			some = []string{f.name}
		}
		all = append(all, some...)
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}
