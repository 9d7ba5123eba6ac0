package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-mpi/weft/internal/launch"
)

// agentName is the command that weft run has a host run.
const agentName = "agent"

// runAgent starts the ranks of a host for a weft run elsewhere.
func runAgent(args []string, _, stderr io.Writer) int {
	if len(args) > 0 {
		return wrong(stderr, errors.New("weft agent is started by weft run --hosts, and takes no arguments"))
	}
	if err := launch.Agent(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(stderr, "weft:", err)
		return exitFailed
	}
	return 0
}
