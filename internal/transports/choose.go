package transports

import (
	"os"

	"github.com/weft-mpi/weft/internal/launch"
)

// fabricVar names the fabric where the program names none.
const fabricVar = "WEFT_FABRIC"

// choice is the fabric of a job. All its ranks choose the same.
type choice struct {
	transports table
	// named says that the user wants all of these transports. Otherwise one that is
	// not available may be passed over.
	named bool
	// instead are tried if none of transports is available.
	instead table
}

// choose finds the fabric for a job of processes.
func (t table) choose(name string, j *launch.Job) (choice, error) {
	if env := os.Getenv(fabricVar); name == Auto && env != "" {
		if err := t.checkName(env); err != nil {
			return choice{}, err
		}
		name = env
	}
	needs := network
	switch {
	case j.Size == 1:
		needs = process
	case len(j.LocalRanks) == j.Size:
		needs = machine
	}
	if name == Auto {
		if needs == machine && os.Getenv(nodeVar) != "" {
			needs = network // the others' nodes are on their cards
		}
		c := choice{transports: t.within(min(needs, machine), needs)}
		if needs == machine {
			c.instead = t.last(network)
		}
		return c, nil
	}
	parts, err := t.parse(name)
	if err != nil {
		return choice{}, err
	}
	switch farthest := parts[len(parts)-1].reach; {
	case farthest >= needs:
		return choice{transports: parts, named: true}, nil
	case farthest == process:
		return choice{}, unsupported("fabric %s joins the goroutines of one process, not %d processes: use shm, or mpi.Run", name, j.Size)
	}
	return choice{}, unsupported("%d of %d ranks are on other machines, which %s does not reach: %s, or start all ranks on one machine",
		j.Size-len(j.LocalRanks), j.Size, name, t.networkRemedy())
}

// networkRemedy says which fabric to take where the network has to be reached: with
// the transport that needs the least.
func (t table) networkRemedy() string {
	return "choose a fabric that reaches the network, such as " + append(t.within(machine, machine), t.last(network)...).name()
}

// last is the transport of a reach that needs the least.
func (t table) last(r reach) table {
	of := t.within(r, r)
	return of[max(len(of)-1, 0):]
}

// forGoroutines finds the transport for ranks of one process.
func (t table) forGoroutines(name string) (transport, error) {
	parts, err := t.parse(name)
	switch {
	case err != nil:
		return transport{}, err
	case len(parts) == 0:
		return t[0], nil
	case len(parts) > 1:
		return transport{}, unsupported("fabric %s is for processes: goroutines are all on one machine", name)
	}
	return parts[0], nil
}
