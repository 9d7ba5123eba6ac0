package job

import (
	"os"

	"github.com/weft-mpi/weft/fabric"
)

// options are the settings of a transport in the environment. The variables have
// the names of the options: WEFT_SHM_GET_MIN.
func options(p fabric.Provider) map[string]string {
	var set map[string]string
	for _, name := range p.Options() {
		if v := os.Getenv(name); v != "" {
			if set == nil {
				set = map[string]string{}
			}
			set[name] = v
		}
	}
	return set
}
