package capi

import (
	"os"

	"github.com/weft-mpi/weft/internal/hardware"
	"github.com/weft-mpi/weft/internal/launch"
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

// getVersion is the version of the standard that the header is of.
func getVersion(a *Args) error {
	a.setInt(0, 5)
	a.setInt(1, 0)
	return nil
}

// pcontrol is for tools that stand before this library.
func pcontrol(*Args) error { return nil }

// getHwResourceInfo is MPI_Get_hw_resource_info: a key for each type of resource that
// MPI_Comm_split_type knows, and whether the process may use one resource of the type only.
func getHwResourceInfo(a *Args) error {
	cpus, _ := launch.AllowedCores() // where they can't be told the process is nowhere
	place := hardware.Find(os.DirFS("/sys/devices/system"), cpus)
	o, err := mpi.NewInfo("mpi_shared_memory", "true")
	for i, t := range hardware.Types {
		is := "false"
		if place[i] != hardware.None {
			is = "true"
		}
		if err == nil {
			err = o.Set(t, is)
		}
	}
	return a.madeInfo(0, o, err)
}
