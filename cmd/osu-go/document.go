package main

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/bench/record"
)

// documented is the head of a document about what has just been measured.
func documented(kind record.Kind) record.Head {
	return record.Head{Kind: kind, When: time.Now().UTC().Truncate(time.Second), Version: version(), Machine: machine()}
}

// version is the version of this build: the module's, or its revision.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}

func machine() record.Machine {
	m := record.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	m.CPU, m.Cores = processors()
	m.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return m
}

// processors is the kernel's name for the processor, and the number of cores:
// runtime.NumCPU is 1 in a rank that is bound to one.
func processors() (model string, cores int) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "", runtime.NumCPU()
	}
	for sc := bufio.NewScanner(bytes.NewReader(info)); sc.Scan(); {
		k, v, _ := strings.Cut(sc.Text(), ":")
		switch strings.TrimSpace(k) {
		case "processor":
			cores++
		case "model name":
			model = strings.TrimSpace(v)
		}
	}
	return model, max(cores, runtime.NumCPU())
}
