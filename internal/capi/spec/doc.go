// Package spec is the table of MPI's standard ABI (MPI-5.0 chapter 20): its functions with
// the kinds of their arguments (functions.txt), its constants (constants.txt), and the
// parser of both. The generator in internal/capi/gen makes C and Go of it. It imports
// nothing of this module.
package spec
