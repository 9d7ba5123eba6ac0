package progress

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// A fabric names operations by their Op. It is a request's (Request.Op), or a sink's
// own:
//
//	bit  63     a sink's own
//	     58-62  which Ops
//	     0-57   its tag
const (
	opNamed = 1 << 63
	opBits  = 58
	maxOps  = 1 << 5

	// MaxTag is the largest tag of an operation.
	MaxTag = 1<<opBits - 1
)

// Ops names fabric operations that belong to no request.
type Ops struct{ base fabric.Op }

// NameOps makes names for operations; done is called with each completion, as
// the owner. It is called before Go. The 33rd call fails.
func (l *Loop) NameOps(done func(tag uint64, err error)) (Ops, error) {
	if len(l.ops) == maxOps {
		return Ops{}, fmt.Errorf("there are names of operations for %d protocols already", maxOps)
	}
	l.ops = append(l.ops, done)
	return Ops{opNamed | fabric.Op(len(l.ops)-1)<<opBits}, nil
}

// Op is the name of the operation with a tag of at most MaxTag.
func (o Ops) Op(tag uint64) fabric.Op { return o.base | fabric.Op(tag&MaxTag) }
