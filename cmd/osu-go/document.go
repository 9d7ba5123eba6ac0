package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// runDoc is the JSON output of a benchmark.
type runDoc struct {
	Benchmark string           `json:"benchmark"`
	Ranks     int              `json:"ranks"`
	Fabric    string           `json:"fabric"`
	Progress  string           `json:"progress"` // thread or none
	Version   string           `json:"version"`  // of Weft
	OSU       string           `json:"osu"`      // the release of OSU whose method this is
	Machine   machineDoc       `json:"machine"`
	Rows      []map[string]any `json:"rows"`
}

// machineDoc describes the machine of a measurement.
type machineDoc struct {
	Host   string `json:"host"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
}

func writeJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
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

func machine() machineDoc {
	m := machineDoc{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
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
