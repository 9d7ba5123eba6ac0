package mpi

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/hardware"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/progress"
)

// SplitKind is what the ranks of a communicator that SplitType makes have in common.
// The values are those of MPI-5's ABI.
type SplitKind int

const (
	// TypeShared stands for ranks that can share memory: those of one machine, or of
	// one process, that reach one another's memory (MPI_COMM_TYPE_SHARED, MPI-4.0
	// §7.4.2).
	TypeShared SplitKind = 221
	// TypeHWUnguided stands for ranks that use the same part of a machine, of the
	// outermost type that sets ranks apart (MPI_COMM_TYPE_HW_UNGUIDED, MPI-4.0
	// §7.4.2).
	TypeHWUnguided SplitKind = 222
	// TypeHWGuided stands for ranks that use the same part of a machine, of the type
	// that an Info says (MPI_COMM_TYPE_HW_GUIDED, MPI-4.0 §7.4.2). It is for
	// SplitTypeWithInfo.
	TypeHWGuided SplitKind = 223
)

// hwResourceType is the key for the type of a resource, sharedMemory its value that
// stands for TypeShared (MPI-4.0 §7.4.2).
const (
	hwResourceType = "mpi_hw_resource_type"
	sharedMemory   = "mpi_shared_memory"
)

// SplitType is Split by what ranks have in common; those of kind Undefined get nil
// (MPI_Comm_split_type, MPI-4.0 §7.4.2). key orders the ranks as in Split. All ranks
// give the same kind, or Undefined: others are ErrNotSame, at all ranks. See
// SplitTypeWithInfo for the kinds of hardware. It fails with ErrArg for an unknown kind
// and ErrComm on an intercommunicator. Non-local.
func (c *Comm) SplitType(kind SplitKind, key int) (*Comm, error) {
	return c.splitType("Comm.SplitType", kind, key, nil)
}

// SplitTypeWithInfo is SplitType with hints for the new communicator, as SetInfo gives
// them, and with the type of resource for TypeHWGuided: the value of the key
// mpi_hw_resource_type (MPI_Comm_split_type, MPI-4.0 §7.4.2). All ranks give the same
// type, one of hwloc's Package, NUMANode, L3Cache, L2Cache, L1Cache, Core and PU, or
// mpi_shared_memory, which is TypeShared. Without the key the call fails with
// ErrInfoNokey, where MPI returns no communicator.
//
// A rank gets a communicator of the ranks on the same resource that it shares memory
// with. It gets nil if its process may run on processors of several resources of the
// type, if its machine has none, and if the type is unknown. What a process may run on
// is its affinity at the time of the call; ranks that are goroutines have that of
// their process.
//
// TypeHWUnguided chooses the type, mpi_shared_memory included, that divides the ranks
// into the fewest parts, but at least two; nobody gets a communicator if none does. On
// the result it finds the next type further inside. Info of the new communicator
// has mpi_hw_resource_type, which both kinds of hardware set. Other errors are those of
// SplitType and SetInfo. Non-local.
func (c *Comm) SplitTypeWithInfo(kind SplitKind, key int, info *Info) (*Comm, error) {
	return c.splitType("Comm.SplitTypeWithInfo", kind, key, info)
}

func (c *Comm) splitType(call string, kind SplitKind, key int, info *Info) (*Comm, error) {
	if c.gone() {
		return nil, c.explain(call, 0, 0, false)
	}
	if c.TestInter() {
		return nil, c.raise(badArg(call, ErrComm, "this is an intercommunicator: MPI does not say which of its ranks share memory; split the communicator of the local group, or what Merge returns"))
	}
	k := creation{c: c, call: call, spec: comm.Spec{Split: true, Color: Undefined, Key: key}}
	var hints *Info
	var mine wish
	if hints, k.spec.Failed = hintsOf(call, info); k.spec.Failed == nil {
		k.hints = *hints
		mine, k.spec.Failed = c.wish(call, kind, info)
	}
	told := make([]int64, len(mine)*c.size)
	x := operationOf(mine[:], told)
	if err := x.uniform(c, call, &comm.PlanKey{Call: coll.Allgather, Count: len(mine)}); err != nil {
		return nil, c.fail(call, err)
	}
	h := c.core.Icollective(c.ctx, coll.Allgather, x.plan, &x.o) // here, so that reports find the program's line
	if _, err := progress.WaitResult(&h); err != nil {
		return nil, c.fail(call, err)
	}
	all := make([]wish, c.size)
	for r := range all {
		copy(all[r][:], told[r*len(mine):])
	}
	if k.spec.Failed == nil {
		k.spec.Failed = agree(call, all)
	}
	if l := levelOf(all); l >= 0 && k.spec.Failed == nil && mine.kind() != 0 {
		k.spec.Color = mine.color(l)
		if kind != TypeShared {
			k.hints.Set(hwResourceType, levelName(l))
		}
	}
	return k.make()
}

// wish is what a rank tells the others: the kind of its split, 0 if it is to be in no
// communicator; of a guided one the level, or a number that is none; the first rank of
// its neighborhood; and its hardware.Place.
type wish [3 + len(hardware.Types)]int64

func (w *wish) kind() SplitKind { return SplitKind(w[0]) }

// Levels are mpi_shared_memory and behind it the types of resources.
const levels = 1 + len(hardware.Types)

func levelName(l int) string {
	if l == 0 {
		return sharedMemory
	}
	return hardware.Types[l-1]
}

// color is that of the rank's resource at a level, or Undefined.
func (w *wish) color(level int) int {
	switch at := int(w[2]); {
	case level == 0:
		return at * hardware.MaxCPUs
	case w[2+level] == hardware.None:
		return Undefined
	default: // machines number their resources alike
		return at*hardware.MaxCPUs + int(w[2+level])
	}
}

// wish is that of this rank.
func (c *Comm) wish(call string, kind SplitKind, info *Info) (w wish, err error) {
	switch kind {
	case Undefined:
		return w, nil
	case TypeHWGuided:
		name, given := info.Get(hwResourceType)
		if !given {
			return w, badArg(call, ErrInfoNokey, "the info has no %s: give it to SplitTypeWithInfo, as %q, %q or the like", hwResourceType, sharedMemory, hardware.Types[0])
		}
		w[1] = levelNumber(name)
	case TypeShared, TypeHWUnguided:
	default:
		return w, badArg(call, ErrArg, "%d is no kind of split: give TypeShared, TypeHWGuided or TypeHWUnguided, or Undefined for no communicator", kind)
	}
	w[0], w[2] = int64(kind), int64(c.neighborhood())
	for i, n := range c.w.placed() {
		w[3+i] = int64(n)
	}
	return w, nil
}

// levelNumber is the level of a name. An unknown one has a number that is none, and
// differs from those of other names.
func levelNumber(name string) int64 {
	if name == sharedMemory {
		return 0
	}
	if i := slices.Index(hardware.Types[:], name); i >= 0 {
		return int64(i + 1)
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return int64(levels) + int64(h.Sum32())
}

// agree returns the error of wishes that do not go together.
func agree(call string, all []wish) error {
	first := -1
	for r := range all {
		switch w := &all[r]; {
		case w.kind() == 0:
		case first < 0:
			first = r
		case w.kind() != all[first].kind() || w[1] != all[first][1]:
			return badArg(call, ErrNotSame, "rank %d asks for %v and rank %d for %v: all ranks give the same kind and type, or Undefined", first, &all[first], r, w)
		}
	}
	return nil
}

func (w *wish) String() string {
	switch kind := w.kind(); {
	case kind == TypeShared:
		return "TypeShared"
	case kind == TypeHWUnguided:
		return "TypeHWUnguided"
	case w[1] < int64(levels):
		return fmt.Sprintf("TypeHWGuided by %s", levelName(int(w[1])))
	}
	return "TypeHWGuided by an unknown type"
}

// levelOf is the level by which the ranks are split, or -1 if no rank gets a
// communicator.
func levelOf(all []wish) int {
	all = slices.DeleteFunc(slices.Clone(all), func(w wish) bool { return w.kind() == 0 })
	switch {
	case len(all) == 0:
		return -1
	case all[0].kind() == TypeShared:
		return 0
	case all[0].kind() == TypeHWGuided:
		if l := all[0][1]; l < int64(levels) {
			return int(l)
		}
		return -1
	}
	best, least := -1, 0
	for l := range levels {
		colors, alone := map[int]bool{}, 0 // ranks without a resource of their own are parts as well
		for r := range all {
			if color := all[r].color(l); color == Undefined {
				alone++
			} else {
				colors[color] = true
			}
		}
		if parts := len(colors) + alone; len(colors) > 0 && parts > 1 && (best < 0 || parts < least) {
			best, least = l, parts
		}
	}
	return best
}

// placed is the place of this rank.
func (w *World) placed() hardware.Place {
	if w.place != nil {
		return w.place()
	}
	cpus, _ := launch.AllowedCores() // where they can't be told the rank is nowhere
	return hardware.Find(os.DirFS("/sys/devices/system"), cpus)
}

// neighborhood is the first rank of the job of those that this one shares memory
// with.
func (c *Comm) neighborhood() int {
	all := c.members()
	for i := range all.Len() {
		if w := all.World(i); i == c.rank || c.w.engine.Loop.Via(fabric.Peer(w)).Caps().Reach {
			return w
		}
	}
	return all.World(c.rank)
}
