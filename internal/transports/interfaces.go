package transports

import "github.com/weft-mpi/weft/fabric/tcp"

// NetAddresses lists the addresses of this machine as the transport tcp chooses
// among them for a job on one host, or on several, with the user's settings. The
// first ones are used, and peers try them in this order. The error says why none
// is; there may be a list too. Local.
func NetAddresses(oneHost bool) ([]tcp.Choice, error) {
	p := tcp.Provider{}
	return p.Choices(options(p), oneHost)
}
