package group

import "fmt"

// RankError is the error of a list of ranks, or of ranges, that names a rank which
// is not in the group, or names it twice.
type RankError struct {
	Item   int // the place in the list, from 0 on, of the rank or range
	Rank   int
	Size   int // of the group
	Before int // the place of the item that names the rank too, or -1
}

func (e *RankError) Error() string {
	switch {
	case e.Before >= 0:
		return fmt.Sprintf("item %d of the list names rank %d, and so does item %d: each rank may be named once", e.Item, e.Rank, e.Before)
	case e.Size == 0:
		return fmt.Sprintf("item %d of the list names rank %d, and the group is empty", e.Item, e.Rank)
	}
	return fmt.Sprintf("item %d of the list names rank %d, which is not in the group of %d ranks (0 to %d)", e.Item, e.Rank, e.Size, e.Size-1)
}

// StrideError is the error of a range whose Stride does not lead from First to
// Last.
type StrideError struct {
	Item  int // the place in the list, from 0 on
	Range Range
}

func (e *StrideError) Error() string {
	r := e.Range
	switch {
	case r.Stride == 0:
		return fmt.Sprintf("item %d of the list, the range from %d to %d, has the stride 0: give 1 for every rank", e.Item, r.First, r.Last)
	case r.First > r.Last:
		return fmt.Sprintf("item %d of the list, the range from %d down to %d, has the stride %d: give a negative one", e.Item, r.First, r.Last, r.Stride)
	}
	return fmt.Sprintf("item %d of the list, the range from %d up to %d, has the stride %d: give a positive one", e.Item, r.First, r.Last, r.Stride)
}
