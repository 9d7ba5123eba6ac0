package tcp

import (
	"testing"

	"github.com/weft-mpi/weft/internal/setting"
)

// The registry tells the defaults that the transport has.
func TestTheDefaultsAreThoseOfTheRegistry(t *testing.T) {
	options := map[string]string{}
	for _, s := range setting.List(setting.User) {
		if s.Reader == "fabric/tcp" && s.Literal {
			options[s.Name] = s.Default
		}
	}
	told, err := readSettings(options)
	unset, uerr := readSettings(nil)
	if err != nil || uerr != nil || told != unset || len(options) == 0 {
		t.Errorf("with %v %+v, %v; unset %+v, %v", options, told, err, unset, uerr)
	}
}
