package diagnose

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

func TestAPlaceIsOutsideOfTheEngine(t *testing.T) {
	var here [1]uintptr
	runtime.Callers(1, here[:])
	within := func(f any) uintptr { return reflect.ValueOf(f).Pointer() + 1 }
	for name, pcs := range map[string][3]uintptr{
		"at once":           {here[0]},
		"below the engine":  {within(pt2pt.New), within(progress.New), here[0]},
		"before the engine": {here[0], within(pt2pt.New)},
	} {
		if at := Place(pcs); !strings.HasPrefix(at, module+"internal/diagnose.TestAPlaceIsOutsideOfTheEngine at ") || !strings.Contains(at, "place_test.go:") {
			t.Errorf("%s: the place is %q", name, at)
		}
	}
	for _, pcs := range [][3]uintptr{{}, {within(pt2pt.New)}} {
		if at := Place(pcs); at != "" {
			t.Errorf("a place that is not known is %q", at)
		}
	}
}
