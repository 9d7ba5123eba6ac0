// Package group maps the ranks of a communicator to those of the job and back.
//
// The engine names ranks by their number in the job. A communicator of some of
// them, or in another order, numbers them anew: what a call names is translated
// once going in, and what a status or an error names once coming out. The nil Map
// is that of a communicator in which each rank has its number of the job.
//
// The operations on groups (MPI-4.0 §7.3) make Maps of Maps. They take All, the Map
// of a job of known size, in the place of nil.
//
// It is pure data and imports nothing of Weft.
package group
