package tcp

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// Provider opens the transport.
type Provider struct{}

func (Provider) Name() string      { return "tcp" }
func (Provider) Options() []string { return []string{envInterfaces, envDeadline, envPort, envTLS} }

// Available tries the system calls of a connection: every Linux has TCP, but may refuse it.
func (Provider) Available() error { return permitted() }

// Open makes the rank reachable at the chosen interfaces.
func (Provider) Open(cfg fabric.Config) (fabric.Domain, error) {
	d, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("open TCP: %w", err)
	}
	return d, nil
}
