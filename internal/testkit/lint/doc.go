// Package lint has the rules of the project that no compiler keeps: which package imports
// which (imports_test.go), where unsafe and cgo live, how long a file may be, how long a
// test waits, and how long the pages about the code are, and whether what they name is
// there (pages_test.go). Its tests are all there is to it.
package lint
