package mpi

// hints are the keys that a communicator takes (MPI-4.0 §7.4.4). Their values are
// true and false.
var hints = map[string]bool{
	"mpi_assert_no_any_tag": true, "mpi_assert_no_any_source": true,
	"mpi_assert_exact_length": true, "mpi_assert_allow_overtaking": true,
}

// SetInfo gives the communicator hints (MPI_Comm_set_info, MPI-4.0 §7.4.4), the
// same on all ranks. Keys that the communicator does not know are ignored. It knows
// mpi_assert_no_any_tag, mpi_assert_no_any_source, mpi_assert_exact_length and
// mpi_assert_allow_overtaking, whose values are true and false; any other value is
// ErrInfoValue, and then no hint is changed. They are promises of the program that
// the library does not use so far: it stores them. Dup does not hand them on,
// DupWithInfo gives others. Local.
func (c *Comm) SetInfo(info *Info) error {
	const call = "Comm.SetInfo"
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	known, err := hintsOf(call, info)
	if err != nil {
		return c.raise(err)
	}
	c.st.mu.Lock()
	defer c.st.mu.Unlock()
	for key, value := range known.All() {
		c.st.hints.Set(key, value)
	}
	return nil
}

// Info returns the hints of the communicator that it knows (MPI_Comm_get_info,
// MPI-4.0 §7.4.4), and mpi_hw_resource_type where SplitType has split by hardware.
// The caller owns the result. It has no errors but the general ones. Local.
func (c *Comm) Info() (*Info, error) {
	if c.lost() {
		return nil, c.explain("Comm.Info", 0, 0, false)
	}
	c.st.mu.Lock()
	defer c.st.mu.Unlock()
	return c.st.hints.Dup(), nil
}

// hintsOf takes from an Info what a communicator knows.
func hintsOf(call string, info *Info) (*Info, error) {
	known := &Info{}
	for key, value := range info.All() {
		switch {
		case !hints[key]:
		case value != "true" && value != "false":
			return nil, badArg(call, ErrInfoValue, "%s is %q: it is true or false", key, value)
		default:
			known.Set(key, value)
		}
	}
	return known, nil
}
