package mpi_test

import (
	"maps"

	"github.com/weft-mpi/weft/mpi"
)

func init() { maps.Copy(failures, persistentFailures) }

// persistentFailures makes each call fail that makes a persistent collective one.
var persistentFailures = map[string]func(v victim) error{
	"Comm.BarrierInit":            func(v victim) error { return second(v.freed.BarrierInit()) },
	"BcastInit":                   func(v victim) error { return second(mpi.BcastInit(v.c, none, 5)) },
	"GatherInit":                  func(v victim) error { return second(mpi.GatherInit(v.c, none, none, 5)) },
	"GathervInit":                 func(v victim) error { return second(mpi.GathervInit(v.c, none, none, nil, nil, 5)) },
	"ScatterInit":                 func(v victim) error { return second(mpi.ScatterInit(v.c, none, none, 5)) },
	"ScattervInit":                func(v victim) error { return second(mpi.ScattervInit(v.c, none, none, nil, nil, 5)) },
	"AllgatherInit":               func(v victim) error { return second(mpi.AllgatherInit(v.c, make([]byte, 2), none)) },
	"AllgathervInit":              func(v victim) error { return second(mpi.AllgathervInit(v.c, none, none, nil, nil)) },
	"AlltoallInit":                func(v victim) error { return second(mpi.AlltoallInit(v.c, make([]byte, 2), none)) },
	"AlltoallvInit":               func(v victim) error { return second(mpi.AlltoallvInit(v.c, none, nil, nil, none, nil, nil)) },
	"ReduceInit":                  func(v victim) error { return second(mpi.ReduceInit(v.c, mpi.Sum, none, none, 5)) },
	"AllreduceInit":               func(v victim) error { return second(mpi.AllreduceInit(v.c, (*mpi.Op)(nil), none, none)) },
	"ReduceScatterBlockInit":      func(v victim) error { return second(mpi.ReduceScatterBlockInit(v.c, (*mpi.Op)(nil), none, none)) },
	"ReduceScatterInit":           func(v victim) error { return second(mpi.ReduceScatterInit(v.c, (*mpi.Op)(nil), none, none, nil)) },
	"ScanInit":                    func(v victim) error { return second(mpi.ScanInit(v.c, (*mpi.Op)(nil), none, none)) },
	"ExscanInit":                  func(v victim) error { return second(mpi.ExscanInit(v.c, (*mpi.Op)(nil), none, none)) },
	"Comm.AllgatherInit":          func(v victim) error { return second(v.c.AllgatherInit(outside, outside)) },
	"Comm.AllgathervInit":         func(v victim) error { return second(v.c.AllgathervInit(outside, outside, []int{1}, nil)) },
	"Comm.AlltoallInit":           func(v victim) error { return second(v.c.AlltoallInit(outside, outside)) },
	"Comm.AlltoallvInit":          func(v victim) error { return second(v.c.AlltoallvInit(outside, []int{1}, nil, outside, []int{1}, nil)) },
	"Comm.AlltoallwInit":          func(v victim) error { return second(v.c.AlltoallwInit([]mpi.Buf{outside}, []mpi.Buf{outside})) },
	"Comm.ReduceInit":             func(v victim) error { return second(v.c.ReduceInit(mpi.Sum, outside, outside, 0)) },
	"Comm.AllreduceInit":          func(v victim) error { return second(v.c.AllreduceInit(mpi.Sum, outside, outside)) },
	"Comm.ReduceScatterBlockInit": func(v victim) error { return second(v.c.ReduceScatterBlockInit(mpi.Sum, outside, outside)) },
	"Comm.ReduceScatterInit":      func(v victim) error { return second(v.c.ReduceScatterInit(mpi.Sum, outside, outside, []int{1})) },
	"Comm.ScanInit":               func(v victim) error { return second(v.c.ScanInit(mpi.Sum, outside, outside)) },
	"Comm.ExscanInit":             func(v victim) error { return second(v.c.ExscanInit(mpi.Sum, outside, outside)) },
	"Comm.BcastInit":              func(v victim) error { return second(v.c.BcastInit(outside, 0)) },
	"Comm.GatherInit":             func(v victim) error { return second(v.c.GatherInit(outside, outside, 0)) },
	"Comm.GathervInit":            func(v victim) error { return second(v.c.GathervInit(outside, outside, []int{1}, nil, 0)) },
	"Comm.ScatterInit":            func(v victim) error { return second(v.c.ScatterInit(outside, outside, 0)) },
	"Comm.ScattervInit":           func(v victim) error { return second(v.c.ScattervInit(outside, outside, []int{1}, nil, 0)) },
}
