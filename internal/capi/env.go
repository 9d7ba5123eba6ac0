package capi

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// The environment (MPI-5.0 §9.1), as far as C does not know it.

const (
	maxProcessorName  = 256
	maxLibraryVersion = 8192
)

func getProcessorName(a *Args) error {
	name, err := mpi.ProcessorName()
	if err == nil {
		a.setInt(1, a.setString(0, name, maxProcessorName))
	}
	return err
}

func getLibraryVersion(a *Args) error {
	a.setInt(1, a.setString(0, mpi.LibraryVersion(), maxLibraryVersion))
	return nil
}

// pcontrol is for tools that stand before this library.
func pcontrol(*Args) error { return nil }

// resources are the types of resources that MPI_Comm_split_type knows.
var resources = []string{"mpi_shared_memory", "Package", "NUMANode", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"}

// getHwResourceInfo is MPI_Get_hw_resource_info: a key for each type of resource, and whether
// the process may use one resource of the type only. Just then a guided split has a
// communicator for it.
func getHwResourceInfo(a *Args) error {
	o, err := mpi.NewInfo()
	if err != nil {
		return err
	}
	err = asSelf(func(self *mpi.Comm) error {
		for _, t := range resources {
			hint, err := mpi.NewInfo("mpi_hw_resource_type", t)
			if err != nil {
				return err
			}
			c, err := self.SplitTypeWithInfo(mpi.TypeHWGuided, 0, hint)
			if err == nil {
				err = o.Set(t, strconv.FormatBool(c != nil))
			}
			if c != nil {
				err = errors.Join(err, c.Free())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return a.madeInfo(0, o, err)
}

var asking sync.Mutex // one at a time, as all make communicators with one tag

// asSelf calls use with a communicator of this process alone. It is not MPI_COMM_SELF, on
// which the program may be in a call.
func asSelf(use func(self *mpi.Comm) error) error {
	asking.Lock()
	defer asking.Unlock()
	var group *mpi.Group
	if world != nil && !mpi.Finalized() {
		group = world.Self().Group()
	} else {
		s, err := mpi.NewSession(context.Background(), options...)
		if err != nil {
			return err
		}
		defer s.Finalize()
		if group, err = s.Group(mpi.PsetSelf); err != nil {
			return err
		}
	}
	c, err := mpi.CommCreateFromGroup(group, "weft://hardware", mpi.CommOptions{})
	if err != nil {
		return err
	}
	return errors.Join(use(c), c.Free())
}
