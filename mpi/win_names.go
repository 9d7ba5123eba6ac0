package mpi

import "fmt"

// String is the name of the call that makes such windows.
func (f WinFlavor) String() string {
	switch f {
	case FlavorCreate:
		return "WinCreate"
	case FlavorAllocate:
		return "WinAllocate"
	case FlavorDynamic:
		return "WinCreateDynamic"
	case FlavorShared:
		return "WinAllocateShared"
	}
	return fmt.Sprintf("WinFlavor(%d)", int(f))
}

// String is the name of the model.
func (m WinModel) String() string {
	switch m {
	case WinUnified:
		return "WinUnified"
	case WinSeparate:
		return "WinSeparate"
	}
	return fmt.Sprintf("WinModel(%d)", int(m))
}

// String is the name of the kind.
func (k LockKind) String() string {
	switch k {
	case LockExclusive:
		return "LockExclusive"
	case LockShared:
		return "LockShared"
	}
	return fmt.Sprintf("LockKind(%d)", int(k))
}

// SetName gives the window a name, which reports and errors at this rank show
// (MPI_Win_set_name, MPI-4.0 §7.8). A name that is longer than MaxObjectName, or has a
// zero byte, is ErrArg, and the old one stays. Local.
func (w *Win) SetName(name string) error {
	const call = "Win.SetName"
	if w.gone() {
		return w.explain(call)
	}
	return w.c.setName(call, name)
}

// Name is the window's name (MPI_Win_get_name, MPI-4.0 §7.8), or "" if it has none or w
// is nil. Local.
func (w *Win) Name() string {
	if w == nil {
		return ""
	}
	name, _ := w.c.given()
	return name
}

// called is what texts call the window.
func (w *Win) called() string {
	if name := w.Name(); name != "" {
		return fmt.Sprintf("the window %q", name)
	}
	return "the window"
}
