package comm

import "context"

// Dup returns a communicator of the same ranks with a context of its own
// (MPI_Comm_dup, MPI-4.0 §7.4.2), see creation.go. Non-local.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) { return c.Create(ctx, Spec{}) }
