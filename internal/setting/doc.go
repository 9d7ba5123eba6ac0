// Package setting is the registry of what a user can set: the environment variables
// of Weft and the options in code, with their values, their defaults and the package
// that reads each.
//
// Package mpi refuses names that are not in it, `weft run -h` and `weft info -c` list
// it, and docs/configuration.md is made from it (Page). It reads and checks no value:
// the package that reads a variable does. It imports nothing, so that every package
// can be listed in it.
package setting
