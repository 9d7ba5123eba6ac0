package mpi

import (
	"fmt"
	"strings"
)

// MaxObjectName is the longest name of a communicator, a window or a datatype, in bytes
// (MPI_MAX_OBJECT_NAME, MPI-4.0 §7.8, without C's final zero).
const MaxObjectName = 127

// SetName gives the communicator a name, which reports and errors at this rank show
// (MPI_Comm_set_name, MPI-4.0 §7.8). All its handles have it; duplicates do not. A
// name that is longer than MaxObjectName, or has a zero byte, is ErrArg, and the old
// one stays: it is not cut off, as in C. Local.
func (c *Comm) SetName(name string) error {
	const call = "Comm.SetName"
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	return c.setName(call, name)
}

func (c *Comm) setName(call, name string) error {
	if err := checkName(call, name); err != nil {
		return c.raise(err)
	}
	c.st.mu.Lock()
	defer c.st.mu.Unlock()
	c.st.name = &name
	return nil
}

// checkName refuses what is no name of an object.
func checkName(call, name string) error {
	if len(name) > MaxObjectName || strings.ContainsRune(name, 0) {
		return badArg(call, ErrArg, "a name of %d bytes: it has at most %d, none of them zero", len(name), MaxObjectName)
	}
	return nil
}

// Name is the communicator's name (MPI_Comm_get_name, MPI-4.0 §7.8), or "" if it has
// none or c is nil. At first that of all ranks is MPI_COMM_WORLD and Self's is
// MPI_COMM_SELF. Local.
func (c *Comm) Name() string {
	name, given := c.given()
	switch {
	case given || c == nil || c.core == nil:
		return name
	case c.core == c.w.engine.World:
		return "MPI_COMM_WORLD"
	case c.core == c.w.engine.Self:
		return "MPI_COMM_SELF"
	}
	return ""
}

// given is the name that the program has set.
func (c *Comm) given() (name string, is bool) {
	if c == nil || c.st == nil {
		return "", false
	}
	c.st.mu.Lock()
	defer c.st.mu.Unlock()
	if c.st.name == nil {
		return "", false
	}
	return *c.st.name, true
}

// called is what an error calls the communicator.
func (c *Comm) called() string {
	if name, _ := c.given(); name != "" {
		return fmt.Sprintf("the communicator %q", name)
	}
	return "the communicator"
}

// nameOf is the name that the program has given to the communicator of a context, or
// "".
func (in *instance) nameOf(context uint32) string {
	name, _ := in.comms.get(context &^ 1).given()
	return name
}
