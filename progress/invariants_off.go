//go:build !invariants

package progress

// check and checkLeave check the states where the package is built with the tag
// invariants.
func (l *Loop) check()      {}
func (l *Loop) checkLeave() {}
