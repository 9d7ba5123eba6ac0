// Package tier tells the tests of the gate, which are short and the same every time, from
// the long ones, which make proof runs. For the tests of other packages.
package tier

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // defines the flag
)

// Random tests draw the same in every run; make soak has other seeds.
func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// Long skips a test in the gate, and says why it is left to the long ones.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make proof: " + why)
	}
}
