// Package allocation is which hosts a job may have, with how many ranks on each: as the
// user lists them, or as a batch system has given them to the job that the process is
// in. weft run gives the list to package launch. Here is no network, and no process but
// scontrol, which knows the names of Slurm's nodes.
package allocation
