package doctor

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// healthy is a machine of four processors without anything wrong.
func healthy() *Machine {
	m := &Machine{
		Root:     fstest.MapFS{},
		Env:      []string{"PATH=/bin"},
		Ranks:    4,
		Cores:    func() ([]int, error) { return []int{0, 1, 2, 3}, nil },
		Limit:    limits(1 << 20),
		Shared:   func() error { return nil },
		Read:     func() (Reads, error) { return Reads{}, nil },
		Statfs:   func(string) (Space, error) { return Space{8 << 30, 4 << 30}, nil },
		Devices:  func() ([]Device, error) { return nil, nil },
		Launched: func() (bool, error) { return false, nil },
		Settings: func() error { return nil },
		Interfaces: func() ([]Address, error) {
			return []Address{address("eth0", "10.1.0.5", 9000), {Interface: "lo", Addr: netip.MustParseAddr("127.0.0.1"), MTU: 65536}}, nil
		},
	}
	m.write("sys/devices/system/cpu/online", "0-3")
	m.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")
	m.write("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm")
	m.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
	m.write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always within_size advise [never] deny force")
	m.write("proc/self/mounts", "proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid 0 0")
	m.write("proc/self/status", "Name:\tweft\nCapEff:\t0000000000000000\nSeccomp:\t0")
	m.write("proc/self/cgroup", "0::/user/me")
	return m
}

func (m *Machine) write(name, text string) {
	m.Root.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text + "\n")}
}

func limits(n uint64) func(string) (Limits, error) {
	return func(string) (Limits, error) { return Limits{n, n}, nil }
}

func address(name, addr string, mtu int) Address {
	return Address{Interface: name, Addr: netip.MustParseAddr(addr), MTU: mtu, Used: true, Why: "it is up"}
}

// A healthy machine has no findings: with a device nothing is missing but the room to
// lock memory, which is there as well.
func TestAHealthyMachineIsWell(t *testing.T) {
	m := healthy()
	for _, f := range Examine(m) {
		if f.Level != OK || f.Seen == "" || f.Remedy != "" {
			t.Errorf("%+v", f)
		}
	}
	m.Devices = func() ([]Device, error) { return []Device{{Name: "mlx5_0", Ports: []string{"port 1"}}}, nil }
	m.Limit = limits(Unlimited)
	if f := Examine(m); Worst(f) != OK {
		t.Errorf("%+v", f)
	}
}

// find runs one check, by its name.
func find(t *testing.T, m *Machine, name string) Finding {
	t.Helper()
	for _, f := range Examine(m) {
		if f.Check == name {
			return f
		}
	}
	t.Fatalf("there is no check %q", name)
	return Finding{}
}

var device = []Device{{Name: "mlx5_0", Ports: []string{"port 1"}}}

// machines are what is wrong with one, or unusual, and what the check says of it.
var machines = []struct {
	check  string
	change func(*Machine)
	level  Level
	seen   string // a part of it
	remedy string // a part of it
}{
	{"configuration", func(m *Machine) { m.Env = append(m.Env, "WEFT_FABRIC=shm", "WEFT_TCP_IF=") }, OK, "WEFT_FABRIC=shm", ""},
	{"configuration", func(m *Machine) { m.Settings = func() error { return errors.New("WEFT_FABRIK") } }, Problem, "WEFT_FABRIK", "weft info -c"},

	{"launcher", func(m *Machine) {
		m.Env = append(m.Env, "PMI_FD=3", "PMI_RANK=0")
		m.Launched = func() (bool, error) { return true, nil }
	}, OK, "PMI-1 (PMI_FD): this process is a rank", ""},
	{"launcher", func(m *Machine) { m.Env = append(m.Env, "SLURM_JOB_ID=7") }, OK, "a Slurm allocation (SLURM_JOB_ID): start ranks with srun --mpi=pmi2", ""},
	{"launcher", func(m *Machine) {
		m.Env = append(m.Env, "OMPI_COMM_WORLD_SIZE=2")
		m.Launched = func() (bool, error) { return false, errors.New("Open MPI's mpirun") }
	}, Problem, "Open MPI's mpirun", "weft run"},
	{"launcher", func(m *Machine) { m.Env = append(m.Env, "OMPI_MCA_btl=tcp") }, OK, "none", ""},

	{"processors", func(m *Machine) { m.Ranks = 5 }, Warning, "4 processors for 5 ranks: 0-3; ranks share", "fewer ranks"},
	{"processors", func(m *Machine) { m.Cores = func() ([]int, error) { return []int{0, 2, 3}, nil }; m.Ranks = 1 }, OK, "3 processors for 1 rank: 0,2-3, of 4 of the machine", ""},
	{"processors", func(m *Machine) { m.Cores = func() ([]int, error) { return nil, syscall.EPERM } }, Warning, "not known", "sched_getaffinity"},

	{"binding", func(m *Machine) { threads2(m); m.Ranks = 2 }, Warning, "processors 0-1, of which some are threads of one core", "taskset -c 0,2 weft run"},
	{"binding", func(m *Machine) { threads2(m) }, OK, "processors 0-3, threads of 2 cores", ""},
	{"binding", func(m *Machine) {
		threads2(m)
		m.Ranks = 2
		m.Cores = func() ([]int, error) { return []int{0, 2, 3}, nil }
	}, OK, "a core of its own: processors 0,2", ""},
	{"binding", func(m *Machine) { m.Ranks = 9 }, OK, "see processors", ""},

	{"processor quota", func(m *Machine) { m.write("sys/fs/cgroup/user/me/cpu.max", "250000 100000") }, Warning, "2.5 processors on average for 4 ranks", "cpu.max"},
	{"processor quota", func(m *Machine) { m.write("sys/fs/cgroup/user/me/cpu.max", "max 100000") }, OK, "no limit", ""},
	{"processor quota", func(m *Machine) {
		m.write("sys/fs/cgroup/user/cpu.max", "100000 100000")
		m.write("sys/fs/cgroup/user/me/cpu.max", "800000 100000")
	}, Warning, "1 processors", "fewer ranks"},
	{"processor quota", func(m *Machine) { m.write("sys/fs/cgroup/cpu.max", "800000 100000") }, OK, "8 processors", ""}, // a container's own root
	{"processor quota", func(m *Machine) {
		m.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1")
		m.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000")
		m.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000")
	}, Warning, "0.5 processors", "--cpus"},
	{"processor quota", func(m *Machine) {
		m.write("proc/self/cgroup", "5:cpu,cpuacct:/a")
		m.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1")
		m.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000")
	}, OK, "no limit", ""},

	{"GOMAXPROCS", func(m *Machine) { m.Env = append(m.Env, "GOMAXPROCS=1") }, Warning, "GOMAXPROCS=1", "unset it"},
	{"GOMAXPROCS", func(m *Machine) { m.Env = append(m.Env, "GOMAXPROCS=3") }, OK, "GOMAXPROCS=3", ""},
	{"GOMAXPROCS", func(m *Machine) { m.Env = append(m.Env, "GOMAXPROCS=many") }, Warning, "many", "unset it"},

	{"memory limit", func(m *Machine) { m.write("sys/fs/cgroup/user/me/memory.max", "134217728") }, Warning, "permits 128 MB; 4 ranks that all communicate take up to 102.4 MB", "memory.max"},
	{"memory limit", func(m *Machine) { m.write("sys/fs/cgroup/user/me/memory.max", "4294967296") }, OK, "permits 4 GB", ""},
	{"memory limit", func(m *Machine) {
		m.write("proc/self/cgroup", "4:memory:/docker/1")
		m.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")
	}, OK, "no limit", ""},
	{"memory limit", func(m *Machine) {
		m.write("proc/self/cgroup", "4:memory:/docker/1")
		m.write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "67108864")
	}, Warning, "permits 64 MB", "--memory"},

	{"shared memory", func(m *Machine) { m.Shared = func() error { return errors.New("memfd_create: not permitted") } }, Problem, "memfd_create", "WEFT_FABRIC=tcp"},
	{"shared memory", func(m *Machine) {
		m.Shared = func() error { return syscall.EACCES }
		m.write("proc/sys/vm/memfd_noexec", "2")
	}, Problem, "permission denied", "vm.memfd_noexec=1"},

	{"reads between processes", reads(nil, syscall.EPERM, "proc/sys/kernel/yama/ptrace_scope", "1"), Warning, "a child can't read its parent (operation not permitted); kernel.yama.ptrace_scope is 1", "ptrace_scope=0"},
	{"reads between processes", reads(syscall.EPERM, syscall.EPERM, "proc/self/status", "Seccomp:\t2"), Warning, "no process reads another's memory (operation not permitted); a seccomp filter is on", "--cap-add=SYS_PTRACE"},
	{"reads between processes", reads(syscall.ENOSYS, syscall.ENOSYS, "proc/sys/kernel/yama/ptrace_scope", "0"), Warning, "not implemented", "CONFIG_CROSS_MEMORY_ATTACH"},
	{"reads between processes", reads(syscall.EPERM, nil, "proc/sys/kernel/yama/ptrace_scope", "0"), Warning, "a process can't read its child", "deny_ptrace"},
	{"reads between processes", func(m *Machine) { m.Read = func() (Reads, error) { return Reads{}, errors.New("no /proc") } }, Warning, "not tried: no /proc", "/proc"},

	{"/dev/shm", func(m *Machine) {}, OK, "tmpfs (rw,nosuid), 4 GB free of 8 GB; Weft keeps nothing there", ""},
	{"/dev/shm", func(m *Machine) { m.write("proc/self/mounts", "proc /proc proc rw 0 0") }, OK, "not mounted", ""},
	{"/dev/shm", func(m *Machine) { m.Statfs = func(string) (Space, error) { return Space{}, syscall.EACCES } }, OK, "tmpfs (rw,nosuid); Weft", ""},

	{"huge pages", func(m *Machine) { m.write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]") }, Warning, "never for the heap", "echo madvise"},
	{"huge pages", func(m *Machine) { m.Root = fstest.MapFS{} }, OK, "no transparent huge pages", ""},

	{"descriptors", func(m *Machine) { m.Limit = limits(64); m.Ranks = 16 }, Problem, "RLIMIT_NOFILE is 64", "hard nofile"},
	{"descriptors", func(m *Machine) { m.Limit = limits(80); m.Ranks = 16 }, OK, "need up to 80", ""},
	{"descriptors", func(m *Machine) { m.Limit = func(string) (Limits, error) { return Limits{}, syscall.EPERM } }, Warning, "not known", "getrlimit"},

	{"processes", func(m *Machine) { m.write("sys/fs/cgroup/user/me/pids.max", "40") }, Warning, "the control group permits 40; 4 ranks have about 48 threads", "pids.max"},
	{"processes", func(m *Machine) { m.Limit = limits(47) }, Warning, "RLIMIT_NPROC is 47", "ulimit -u"},

	{"clock", func(m *Machine) { clocks(m, "hpet", "tsc hpet acpi_pm") }, Warning, "hpet", "echo tsc >"},
	{"clock", func(m *Machine) { clocks(m, "acpi_pm", "acpi_pm") }, Warning, "acpi_pm", "clocksource=tsc"},
	{"clock", func(m *Machine) { clocks(m, "kvm-clock", "kvm-clock") }, OK, "kvm-clock", ""},
	{"clock", func(m *Machine) { m.Root = fstest.MapFS{} }, OK, "not shown", ""},

	{"interfaces", interfaces(nil), Warning, "no address for ranks of several hosts", "WEFT_TCP_IF"},
	{"interfaces", interfaces(errors.New("eth0: it is down")), Warning, "eth0: it is down", "bring an interface up"},
	{"interfaces", interfaces(nil, address("docker7", "172.17.0.1", 1500)), Warning, "docker7 172.17.0.1 is an address of Docker's bridge", "WEFT_TCP_IF=10.0.0.0/8"},
	{"interfaces", interfaces(nil, address("eth0", "10.0.2.15", 1500)), Warning, "QEMU's or VirtualBox's NAT", "WEFT_TCP_IF"},
	{"interfaces", interfaces(nil, address("eth0", "10.1.0.5", 600)), Warning, "below 1280", "ip link set mtu 1500 dev eth0"},
	{"interfaces", interfaces(nil, address("eth0", "10.1.0.5", 1500), address("eth0", "fd00::5", 1500)), OK, "eth0 10.1.0.5 (MTU 1500), eth0 fd00::5 (MTU 1500)", ""},

	{"RDMA devices", devices(nil, Device{Name: "mlx5_0", Ports: []string{"port 1 Ethernet"}}), OK, "mlx5_0 port 1 Ethernet", ""},
	{"RDMA devices", devices(nil, Device{Name: "mlx5_0", Problem: errors.New("port 1 is DOWN")}), Problem, "mlx5_0: port 1 is DOWN", "docs/infiniband.md"},
	{"RDMA devices", devices(nil, Device{Name: "mlx5_0", Problem: errors.New("port 1 is DOWN")}, device[0]), Warning, "mlx5_0 port 1; mlx5_0: port 1 is DOWN", "WEFT_VERBS_DEV"},
	{"RDMA devices", devices(errors.New("no libibverbs")), Problem, "no libibverbs", "tcp"},

	{"locked memory", locked(8<<20, 8<<20), Problem, "RLIMIT_MEMLOCK is 8 MB, and a rank's queues take up to 12 MB", "memlock unlimited"},
	{"locked memory", locked(64<<20, Unlimited), Warning, "64 MB (hard unlimited), which large messages may exhaust", "ulimit -l unlimited"},
	{"locked memory", locked(Unlimited, Unlimited), OK, "unlimited", ""},
	{"locked memory", func(m *Machine) {
		locked(8<<20, 8<<20)(m)
		m.write("proc/self/status", "CapEff:\t0000000000004000")
	}, OK, "CAP_IPC_LOCK", ""},
	{"locked memory", func(m *Machine) { m.Limit = limits(64 << 10) }, OK, "64 KB; only RDMA devices need more, and there is none", ""},
}

// threads2 makes each two processors threads of one core.
func threads2(m *Machine) {
	for i, s := range []string{"0-1", "0-1", "2-3", "2-3"} {
		m.write("sys/devices/system/cpu/cpu"+string(rune('0'+i))+"/topology/thread_siblings_list", s)
	}
}

func reads(child, parent error, file, text string) func(*Machine) {
	return func(m *Machine) {
		m.Read = func() (Reads, error) { return Reads{child, parent}, nil }
		m.write(file, text)
	}
}

func clocks(m *Machine, now, available string) {
	m.write("sys/devices/system/clocksource/clocksource0/current_clocksource", now)
	m.write("sys/devices/system/clocksource/clocksource0/available_clocksource", available)
}

func interfaces(err error, list ...Address) func(*Machine) {
	return func(m *Machine) { m.Interfaces = func() ([]Address, error) { return list, err } }
}

func devices(err error, list ...Device) func(*Machine) {
	return func(m *Machine) { m.Devices = func() ([]Device, error) { return list, err } }
}

func locked(soft, hard uint64) func(*Machine) {
	return func(m *Machine) {
		m.Devices = func() ([]Device, error) { return device, nil }
		m.Limit = func(string) (Limits, error) { return Limits{soft, hard}, nil }
	}
}

func TestChecksSeeWhatIsWrongAndSayWhatToDo(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range machines {
		m := healthy()
		c.change(m)
		f := find(t, m, c.check)
		if f.Level != c.level || !strings.Contains(f.Seen, c.seen) || !strings.Contains(f.Remedy, c.remedy) {
			t.Errorf("%s: %+v\nwant %s, %q, %q", c.check, f, c.level, c.seen, c.remedy)
		}
		if (f.Level == OK) != (f.Remedy == "") {
			t.Errorf("%+v: what is wrong has a remedy, and nothing else", f)
		}
		if f.Level != OK {
			tried[c.check] = true
		}
	}
	for _, c := range checks {
		if !tried[c.name] && c.name != "/dev/shm" { // which is told only
			t.Errorf("no machine fails the check %q", c.name)
		}
	}
}

func TestTheWorstFindingCounts(t *testing.T) {
	for want, levels := range map[Level][]Level{
		OK:      {OK, OK},
		Warning: {OK, Warning, OK},
		Problem: {Warning, Problem, Warning, OK},
	} {
		var all []Finding
		for _, l := range levels {
			all = append(all, Finding{Level: l})
		}
		if got := Worst(all); got != want {
			t.Errorf("of %v the worst is %s", levels, got)
		}
	}
}

// A machine of which nothing can be read is no reason to panic.
func TestNothingToReadIsNoPanic(t *testing.T) {
	m := healthy()
	m.Root = fstest.MapFS{"proc/self/cgroup": {Data: []byte("nonsense\n::\n1:cpu\n0::../../..\n")}, "proc/self/status": {Data: []byte(":\nCapEff")}}
	m.Limit = func(string) (Limits, error) { return Limits{}, syscall.EPERM }
	m.Cores = func() ([]int, error) { return nil, syscall.EPERM }
	m.Ranks = 0
	if n := len(Examine(m)); n != len(checks) {
		t.Errorf("%d findings", n)
	}
}
