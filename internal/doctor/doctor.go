package doctor

import (
	"io/fs"
	"net/netip"
	"strings"
)

// Level is how a check ends.
type Level string

const (
	OK      Level = "ok"
	Warning Level = "warning" // a job runs, more slowly or not everywhere
	Problem Level = "problem" // a job, or a part of Weft, does not work
)

// Finding is the result of a check.
type Finding struct {
	Check  string `json:"check"`
	Level  Level  `json:"level"`
	Seen   string `json:"seen"`
	Remedy string `json:"remedy,omitempty"` // "" where nothing is to be done
}

// Machine is what the checks look at. All functions are called at most once by each
// check, and none may be nil.
type Machine struct {
	Root  fs.FS // "/", of which proc and sys are read
	Env   []string
	Ranks int // of a job on this machine

	Cores  func() ([]int, error)             // that this process may run on
	Limit  func(name string) (Limits, error) // "memlock", "nofile", "nproc"
	Shared func() error                      // tries what shared memory between ranks needs
	Read   func() (Reads, error)             // tries to read another process's memory
	Statfs func(path string) (Space, error)  // of the file system of a path

	Interfaces func() ([]Address, error)
	Devices    func() ([]Device, error)
	Launched   func() (bool, error) // whether a launcher has started this process
	Settings   func() error         // whether the variables of Weft can be used
}

// Limits are those of a resource, Unlimited for none.
type Limits struct{ Soft, Hard uint64 }

// Unlimited is RLIM_INFINITY.
const Unlimited = ^uint64(0)

// Space is the room of a file system in bytes.
type Space struct{ All, Free uint64 }

// Address is an address of a network interface. Used says that ranks of several hosts
// use it over tcp, and Why says why, or why not.
type Address struct {
	Interface string
	Addr      netip.Addr // the zero Addr for an interface without one
	MTU       int        // bytes
	Used      bool
	Why       string
}

// Device is an RDMA device. Problem says why none of its ports can be used, or is nil.
type Device struct {
	Name    string
	Ports   []string // those that can be used, in words
	Problem error
}

// check is a check with its name.
type check struct {
	name string
	run  func(*Machine) Finding
}

// checks are all checks, in the order of the report.
var checks = []check{
	{"configuration", (*Machine).configuration},
	{"launcher", (*Machine).launcher},
	{"processors", (*Machine).processors},
	{"binding", (*Machine).binding},
	{"processor quota", (*Machine).quota},
	{"GOMAXPROCS", (*Machine).gomaxprocs},
	{"memory limit", (*Machine).memoryLimit},
	{"shared memory", (*Machine).sharedMemory},
	{"reads between processes", (*Machine).reads},
	{"/dev/shm", (*Machine).devShm},
	{"huge pages", (*Machine).hugePages},
	{"descriptors", (*Machine).descriptors},
	{"processes", (*Machine).processes},
	{"clock", (*Machine).clock},
	{"interfaces", (*Machine).interfaces},
	{"RDMA devices", (*Machine).devices},
	{"locked memory", (*Machine).lockedMemory},
}

// Examine runs all checks.
func Examine(m *Machine) []Finding {
	var all []Finding
	for _, c := range checks {
		f := c.run(m)
		f.Check = c.name
		all = append(all, f)
	}
	return all
}

// Worst is the worst level of the findings.
func Worst(all []Finding) Level {
	worst := OK
	for _, f := range all {
		if f.Level == Problem || f.Level == Warning && worst == OK {
			worst = f.Level
		}
	}
	return worst
}

func ok(seen string) Finding { return Finding{Level: OK, Seen: seen} }

func warn(seen, remedy string) Finding { return Finding{Level: Warning, Seen: seen, Remedy: remedy} }

func bad(seen, remedy string) Finding { return Finding{Level: Problem, Seen: seen, Remedy: remedy} }

// word is the content of a file of one line, "" if it can't be read.
func (m *Machine) word(name string) string {
	b, err := fs.ReadFile(m.Root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// variable is the value of an environment variable.
func (m *Machine) variable(name string) string {
	for _, kv := range m.Env {
		if v, is := strings.CutPrefix(kv, name+"="); is {
			return v
		}
	}
	return ""
}
