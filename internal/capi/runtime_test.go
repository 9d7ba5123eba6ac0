package capi

import (
	"os/exec"
	"testing"
)

func TestTheProgramIsInGo(t *testing.T) {
	if !isGoProgram("/proc/self/exe") || MayStart(false) == 0 {
		t.Error("a test of Go's is not taken for a Go program")
	}
	if sh, err := exec.LookPath("sh"); err == nil && isGoProgram(sh) {
		t.Errorf("%s is taken for a Go program", sh)
	}
	if isGoProgram("/dev/null") || isGoProgram("/nowhere") {
		t.Error("what is no program is taken for one")
	}
}
