//go:build faults

package transports

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/killpoint"
)

// In a build for the kill matrix, the only one with this tag, each transport
// between processes has points at which a rank dies.
func init() {
	for i, tr := range transports {
		if tr.reach != process {
			transports[i].provider = func(ranks int) fabric.Provider { return killpoint.Provider(tr.provider(ranks)) }
		}
	}
}
