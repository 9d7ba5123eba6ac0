package mpi

import "github.com/weft-mpi/weft/internal/launch"

// The predefined attributes of MPI are constants and methods here: TagUB,
// LastUsedCode and those below. Every rank does input and output, and none is the
// host process (MPI_IO, MPI_HOST).

// WtimeIsGlobal says that times of Wtime can't be compared between processes
// (MPI_WTIME_IS_GLOBAL, MPI-4.0 §9.1.2).
const WtimeIsGlobal = false

// UniverseSize is the number of ranks that there can be (MPI_UNIVERSE_SIZE,
// MPI-4.0 §11.10.1): that of the job, since a job does not start further ones. It
// is 0 if w is nil. Local.
func (w *World) UniverseSize() int { return w.Comm().Size() }

// AppNum is the number of the program that this rank runs among those that the
// launcher was given, and whether it is known (MPI_APPNUM, MPI-4.0 §11.10.3). A
// job of weft run, or of Run, has one, number 0. A PMI-1 launcher does not tell.
// Local.
func (w *World) AppNum() (int, bool) {
	return 0, w != nil && w.comm != nil && (w.job == nil || w.job.Launcher != launch.LauncherPMI1)
}
