package tcp

import (
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

func TestAnOpenThatFailsIsAnError(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"no such interface": {envInterfaces: "no-such-interface"},
		"no prefix":         {envInterfaces: "10.0.0.0/99"},
		"no time":           {envDeadline: "soon"},
	} {
		d, err := Provider{}.Open(fabric.Config{Size: 1, Hosts: []uint32{0}, Options: options})
		if e, ok := errors.AsType[*fabric.Error](err); d != nil || !ok || e.Remedy == "" {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
