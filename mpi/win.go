package mpi

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/transports"
	"github.com/weft-mpi/weft/rma"
)

// Win is a window: memory that each rank of a communicator exposes to the others, for
// Put, Get and accumulates that need no call at the target (MPI_Win, MPI-4.0 §12.2).
// WinCreate, WinAllocate and WinAllocateShared return it within a Window, which knows
// the type of its elements; WinCreateDynamic returns it alone.
//
// Operations are allowed within epochs, which Fence, Start, Lock and LockAll open
// (§12.5). The calls that open and close epochs of a window are made by one goroutine
// at a time; within an epoch any number of goroutines may call operations and flushes.
// Its operations have the context of the communicator it is made of. A Win ends with
// Free; the communicator may be freed before.
type Win struct {
	c     *Comm // a duplicate of the communicator, of the window's own, with its handler, name and hints
	core  *rma.Win
	kind  WinFlavor
	attrs attributes[*Win]
	keep  any    // memory that the garbage collector must keep
	free  func() // gives back memory that the library has allocated, or nil

	noLocks atomic.Bool // the hint: stored by SetInfo, loaded by Lock and LockAll
}

// Window is a window of elements of one type: a handle that may be copied, with the
// methods of Win. The zero one is no window (MPI_WIN_NULL), and calls on it fail with
// ErrWin.
type Window[T Scalar] struct {
	*Win
	local []T
}

// WinFlavor is how a window was made (MPI_WIN_CREATE_FLAVOR, MPI-4.0 §12.2.6). The
// values are those of MPI-5's ABI.
type WinFlavor int

const (
	FlavorCreate   WinFlavor = 311 // by WinCreate (MPI_WIN_FLAVOR_CREATE, MPI-4.0 §12.2.6)
	FlavorAllocate WinFlavor = 312 // by WinAllocate (MPI_WIN_FLAVOR_ALLOCATE, MPI-4.0 §12.2.6)
	FlavorDynamic  WinFlavor = 313 // by WinCreateDynamic (MPI_WIN_FLAVOR_DYNAMIC, MPI-4.0 §12.2.6)
	FlavorShared   WinFlavor = 314 // by WinAllocateShared (MPI_WIN_FLAVOR_SHARED, MPI-4.0 §12.2.6)
)

// WinModel is how memory of a window relates to what operations see (MPI_WIN_MODEL,
// MPI-4.0 §12.2.6). The values are those of MPI-5's ABI.
type WinModel int

const (
	WinUnified  WinModel = 321 // one copy for loads, stores and operations (MPI_WIN_UNIFIED, MPI-4.0 §12.4)
	WinSeparate WinModel = 322 // a private copy and a public one, and accesses are checked: see WinOptions (MPI_WIN_SEPARATE, MPI-4.0 §12.4)
)

// WinOptions are settings of a window. The zero value is right for most.
type WinOptions struct {
	// DispUnit is the displacement unit of this rank's part in bytes: a displacement
	// that others give is multiplied by it. 0 is the length of an element. Dynamic windows
	// have none: an address is in bytes.
	DispUnit int
	// Info are hints, as Win.SetInfo takes them. Where that would refuse them, the call
	// that makes the window fails at all ranks.
	Info *Info
	// Noncontiguous lets each part of WinAllocateShared lie anywhere: close to its rank,
	// for instance. The hint alloc_shared_noncontig does the same (MPI-4.0 §12.2.3). All
	// ranks give one of the two, or none does.
	Noncontiguous bool
	// Adjoining has the part of the next rank of WinAllocateShared begin where this one ends
	// (MPI-4.0 §12.2.3), also within a cache line, so that a rank finds the parts of others
	// by their lengths. All ranks give it or none does.
	Adjoining bool
	// Model is the memory model, the same at all ranks; else the call fails with
	// ErrNotSame at all. 0 is WinUnified, or with WithWindowChecks WinSeparate; windows
	// of WinAllocateShared, which ranks reach by loads and stores, are WinUnified always,
	// and refuse the other with ErrArg.
	//
	// WinSeparate is for tests of a program: it makes each mistake visible that only
	// machines with other memory punish, and reports it. Each rank's part has two copies
	// (MPI-4.0 §12.4). Local is the private one; operations, also the rank's own, go to
	// the public one, in messages that the target's library serves. Stores of the rank
	// reach the public copy in its Fence, Post, Unlock, UnlockAll and Sync, and what
	// operations that have ended have changed reaches the private one in its Fence,
	// Wait, Test, Lock, LockAll and Sync: no sooner than §12.7 demands. Free is not one of
	// them.
	//
	// Two accesses to one location that conflict by §12.7 are an error of class
	// ErrRMAConflict with a ConflictError for each pair: of the target, at the call that
	// ends its epoch, of the rank whose access came second, at the call that ends it, and
	// of the first one at one of its next such calls; these are Fence, Complete, Wait,
	// Test, Unlock, UnlockAll, the flushes, Sync and Free. The calls have their effect all
	// the same. Stores of the rank itself are found by what they have changed, loads are
	// not; accumulates may mix operators unless the hint accumulate_ops promises that they
	// do not. Stores and updates of locations of one part that do not overlap are not
	// reported. Of operations under locks only such are found as were at the target at
	// the same time.
	Model WinModel
}

// WinCreate makes a window on memory of the program: local, which may be of length 0 or
// nil (MPI_Win_create, MPI-4.0 §12.2.1). All ranks of c call it, in the same order among
// its collective calls; their parts may differ in length. local must stay where it is,
// and be accessed by the rules of §12.7 only, until Free.
//
// On one machine, others reach memory of mpi.Alloc by loads and stores, and memory of
// the Go heap by a system call for each operation: WinAllocate is faster. It fails with
// ErrDisp for a negative DispUnit, ErrInfoValue for wrong Info, ErrArg for an unknown
// Model, ErrNotSame if the models differ or another rank makes its part by another of the
// calls for windows, and ErrComm on an intercommunicator.
// Non-local.
func WinCreate[T Scalar](c *Comm, local []T, o WinOptions) (Window[T], error) {
	const call = "WinCreate"
	k := windowOf[T](c, call, FlavorCreate, o)
	k.part.Mem, k.win.keep = bytesOf(local), local
	return made[T](k.make())
}

// WinAllocate makes a window on n new elements of this rank, zeroed
// (MPI_Win_allocate, MPI-4.0 §12.2.2), which Local returns. n may be 0 and differ between
// ranks. The memory is the window's, and Free gives it back: no slice of it may be used
// afterwards. All ranks of c call it, in the same order among its collective calls. If
// one has no memory the call fails at all. Errors are those of WinCreate, ErrSize for a
// wrong n, and ErrNoMem. Non-local.
func WinAllocate[T Scalar](c *Comm, n int, o WinOptions) (Window[T], error) {
	const call = "WinAllocate"
	k := windowOf[T](c, call, FlavorAllocate, o)
	k.allocate(n, sizeOf[T]())
	return made[T](k.make())
}

// made is the typed form of a new window.
func made[T Scalar](w *Win, err error) (Window[T], error) {
	if err != nil {
		return Window[T]{}, err
	}
	return Window[T]{Win: w, local: ofBytes[T](w.core.Memory())}, nil
}

// Local is this rank's part of the window (MPI_WIN_BASE, MPI-4.0 §12.2.6), nil of the zero
// Window. Loads and stores of it follow the rules of MPI-4.0 §12.7: they conflict with
// operations of others in the same epoch. For flags and counters use sync/atomic, or
// operations on oneself. With separate memory it is the private copy (WinOptions.Model). It
// must not be used after Free. Local.
func (w Window[T]) Local() []T { return w.local }

// windowMaker is what a rank brings to a window.
type windowMaker struct {
	c    *Comm
	call string
	spec comm.Spec
	win  *Win
	part comm.Part
	info *Info // what the window knows of the hints

	model WinModel // as the program has asked
}

func windowOf[T Scalar](c *Comm, call string, kind WinFlavor, o WinOptions) *windowMaker {
	k := &windowMaker{c: c, call: call, part: comm.Part{Unit: o.DispUnit}, win: &Win{kind: kind}, model: o.Model}
	k.info, k.spec.Failed = winHintsOf(call, o.Info)
	switch {
	case o.DispUnit < 0:
		k.spec.Failed = badArg(call, ErrDisp, "the displacement unit is %d bytes: give 1 or more, or 0 for the length of an element", o.DispUnit)
	case o.DispUnit == 0:
		k.part.Unit = sizeOf[T]()
	}
	if err := k.checkModel(); err != nil {
		k.spec.Failed = err
	}
	return k
}

// allocate makes this rank's part: n elements of size bytes.
func (k *windowMaker) allocate(n, size int) {
	if n < 0 || n > math.MaxInt/size {
		k.spec.Failed = badArg(k.call, ErrSize, "%d elements of %d bytes", n, size)
		return
	}
	if n == 0 || k.c.gone() {
		return
	}
	b, free, err := transports.AllocBlock(n * size)
	if err != nil {
		k.spec.Failed = allocError(k.call, err)
		return
	}
	k.part.Mem, k.win.free = b, free
	if err := k.unshared(b); err != nil {
		k.spec.Failed = err
	}
}

// unshared returns why new memory of a shared window can't be shared, nil if it can.
func (k *windowMaker) unshared(b []byte) error {
	why := transports.Apart(b)
	if why == nil || !k.part.Reached || k.c.size == 1 || k.c.w.crew != nil {
		return nil
	}
	return &Error{Class: ErrRMAShared, Call: k.call, Err: fmt.Errorf("other processes can't map this one's memory: %w", why)}
}

// make makes the window.
func (k *windowMaker) make() (*Win, error) {
	c := k.c
	switch {
	case c.gone():
		return nil, c.explain(k.call, 0, 0, false)
	case c.TestInter():
		k.discard()
		return nil, c.raise(badArg(k.call, ErrComm, "%s has two groups, and windows are made of ranks of one: take what Merge makes of it", c.called()))
	}
	if k.separate() {
		k.part.Line = lineOfProgram
	}
	if k.spec.Kind = uint64(k.win.kind) << 1; k.part.Share != nil {
		k.spec.Kind++
	}
	frames.Callers(&k.spec.Place)
	core, w, err := c.core.Window(c.ctx, k.spec, k.part)
	if err != nil {
		if kinds, ok := errors.AsType[*comm.KindsError](err); ok {
			err = badArg(k.call, ErrNotSame, "some ranks call %s and others %s: all call the same for a window", madeBy(kinds.Least), madeBy(kinds.Greatest))
		}
		switch classOf(err) {
		case ErrProcFailed, ErrCanceled: // another rank may think that there is a window
		default:
			k.discard()
		}
		return nil, c.fail(k.call, err)
	}
	win := k.win
	win.c, win.core = newComm(c.w, core, c.ctx), w
	win.c.st.win = win
	win.hint(k.info)
	c.w.comms.add(win.c)
	return win, nil
}

// madeBy names the call that gives a kind to Spec.
func madeBy(kind uint64) string {
	name := map[WinFlavor]string{FlavorCreate: "WinCreate", FlavorAllocate: "WinAllocate", FlavorDynamic: "WinCreateDynamic"}[WinFlavor(kind>>1)]
	switch {
	case name != "":
		return name
	case kind&1 == 0:
		return "WinAllocateShared with Noncontiguous"
	}
	return "WinAllocateShared"
}

// discard gives this rank's part back, since there is no window.
func (k *windowMaker) discard() {
	if k.win.free != nil {
		k.win.free()
	}
}

// gone reports whether the window can't be used any more.
func (w *Win) gone() bool { return w == nil || w.core == nil || w.c.gone() }

// Free ends the window (MPI_Win_free, MPI-4.0 §12.2.5). All ranks call it, when their
// epochs are closed; it waits for all. Its attributes are deleted first, the last one
// first; if a delete function fails, so does Free, and the window stays, as it does if the
// context ends. Memory of WinAllocate that other ranks may
// still write to, because of a rank that has died, stays until the World ends. Afterwards
// every call on it fails with ErrWin, and memory of WinAllocate
// must not be touched. It fails with ErrRMASync within an epoch, and with the class of
// a delete function's error, or ErrOther. Non-local.
func (w *Win) Free() error {
	const call = "Win.Free"
	if w.gone() {
		return w.explain(call)
	}
	if err := w.core.MayFree(); err != nil {
		return w.fail(call, err)
	}
	if err := w.attrs.clear(w); err != nil {
		return w.fail(call, attrError(call, ErrWin, err))
	}
	err := w.core.Free(w.c.ctx)
	if !w.core.Over() {
		w.attrs.reopen()
		return w.fail(call, err)
	}
	if w.free != nil && err == nil { // else others may write to it yet
		w.free()
	}
	w.c.core.Free()
	w.c.w.comms.free(w.c.cid)
	if left := w.core.Conflicts(); left != nil {
		err = errors.Join(err, left)
	}
	return w.fail(call, err)
}

// Group is the group of the window's ranks (MPI_Win_get_group, MPI-4.0 §12.2.6), or nil
// if w is nil. Local.
func (w *Win) Group() *Group {
	if w == nil {
		return nil
	}
	return w.c.Group()
}

// Flavor is how the window was made (MPI_WIN_CREATE_FLAVOR, MPI-4.0 §12.2.6), or 0 if w
// is nil. Local.
func (w *Win) Flavor() WinFlavor {
	if w == nil {
		return 0
	}
	return w.kind
}

// Size is the length of this rank's part in bytes (MPI_WIN_SIZE, MPI-4.0 §12.2.6), 0 of
// a dynamic window and if w is nil. Local.
func (w *Win) Size() int {
	if w == nil || w.core == nil || w.kind == FlavorDynamic {
		return 0
	}
	n, _ := w.core.Size(w.c.rank)
	return n
}

// DispUnit is the displacement unit of this rank's part in bytes (MPI_WIN_DISP_UNIT,
// MPI-4.0 §12.2.6), 1 of a dynamic window and 0 if w is nil. Local.
func (w *Win) DispUnit() int {
	switch {
	case w == nil || w.core == nil:
		return 0
	case w.kind == FlavorDynamic:
		return 1
	}
	_, unit := w.core.Size(w.c.rank)
	return unit
}

// Model is the memory model of the window (MPI_WIN_MODEL, MPI-4.0 §12.2.6), or 0 if w is
// nil. Local.
func (w *Win) Model() WinModel {
	switch {
	case w == nil:
		return 0
	case w.core != nil && w.core.Separate():
		return WinSeparate
	}
	return WinUnified
}
