package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/mpi"
)

const versionUsage = `weft version tells which build this is. Ranks of one job need the same wire
version: it is that of the packets which they exchange.

usage: weft version
       weft --version

`

func runVersion(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("version", pflag.ContinueOnError)
	if code, done := parse(flags, args, versionUsage, "", stdout, stderr); done {
		return code
	}
	if err := noArguments(flags); err != nil {
		return wrong(stderr, err)
	}
	info, _ := debug.ReadBuildInfo()
	return say(stdout, stderr, fmt.Sprintf("weft %s\nwire version %d\n%s %s/%s\n",
		version(info), mpi.WireVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH))
}

// version is that of the module, or the revision of a build from a checkout.
func version(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v := settings["vcs.revision"]
	if v == "" {
		return "(devel)"
	}
	if settings["vcs.modified"] == "true" {
		v += "+dirty"
	}
	return v
}
