// Package lint has the rules of the project that no compiler keeps: which package imports
// which (imports_test.go), where unsafe and cgo live, how long a file may be, and how long
// a test waits. Its tests are all there is to it.
package lint
