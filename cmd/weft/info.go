package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/setting"
	"github.com/weft-mpi/weft/mpi"
)

const infoUsage = `weft info tells what a job would use on this machine, and why: the fabrics, network
addresses and RDMA devices, with the reason for each that can't be used; how messages
of each length go; which algorithms collective calls take. With -c it tells all
settings instead, each with its value here and where that is from.

usage: weft info [FLAGS]

`

func runInfo(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("info", pflag.ContinueOnError)
	config := flags.BoolP("config", "c", false, "the configuration: each setting with its value and its origin")
	asJSON := flags.Bool("json", false, "all of it as JSON, or with -c the configuration")
	page := flags.Bool("markdown", false, "the reference of all settings, docs/configuration.md")
	if code, done := parse(flags, args, infoUsage, "", stdout, stderr); done {
		return code
	}
	if err := noArguments(flags); err != nil {
		return wrong(stderr, err)
	}
	if *page && (*config || *asJSON) {
		return wrong(stderr, errors.New("weft info --markdown takes no other flag"))
	}
	refused := mpi.CheckEnvironment()
	var text strings.Builder
	code := 0
	if refused != nil && !*page && !*config { // a job would use nothing
		code = exitUsage
	}
	switch {
	case *page:
		text.WriteString(setting.Page())
	case *asJSON:
		code = max(code, infoJSON(&text, *config)) // it names the error too
	case *config:
		configuration(&text, mpi.Settings(), refused)
	case refused != nil:
		return wrong(stderr, fmt.Errorf("%w (weft info -c prints all settings)", refused))
	default:
		code = info(&text)
	}
	return max(code, say(stdout, stderr, text.String()))
}

// info prints the fabrics of this machine, the addresses that tcp uses, the RDMA
// devices, with the reason for each that can't be used, the protocols and the
// algorithms. It returns 1 if addresses or devices can't be listed.
func info(w io.Writer) int {
	fmt.Fprintln(w, "fabrics")
	fabrics(w, mpi.Fabrics(), mpi.FabricAvailable)
	code := 0
	for _, hosts := range []struct {
		one   bool
		title string
	}{{true, "all ranks on one host"}, {false, "ranks on several hosts"}} {
		list, err := mpi.NetAddresses(hosts.one)
		code = max(code, addresses(w, hosts.title, list, err))
	}
	devices, err := mpi.Devices()
	switch {
	case err != nil:
		fmt.Fprintf(w, "\nRDMA devices: %v\n", err)
		code = exitFailed
	case len(devices) == 0:
		fmt.Fprintln(w, "\nRDMA devices: none")
	}
	for _, d := range devices {
		device(w, d)
	}
	for _, name := range transports() {
		list, err := mpi.Protocols(name)
		protocols(w, name, list, err)
	}
	algorithms(w, mpi.Algorithms())
	return code
}

// transports are the fabrics of one transport that can be used here.
func transports() (names []string) {
	for _, name := range mpi.Fabrics() {
		if name != "auto" && !strings.Contains(name, "+") && mpi.FabricAvailable(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// fabrics prints the fabrics and whether they can be used. Why a transport can't be
// is said once, not for each fabric that has it.
func fabrics(w io.Writer, names []string, available func(name string) error) {
	width := 0
	for _, name := range names {
		width = max(width, len(name))
	}
	bad := map[string]bool{}
	for _, name := range names {
		if name == "auto" {
			continue
		}
		text := "usable"
		if err := available(name); err != nil {
			bad[name] = true
			text = "not usable: " + indent(err, strings.Repeat(" ", width+4))
			for part := range strings.SplitSeq(name, "+") {
				if part != name && bad[part] {
					text = "not usable, for want of " + part
					break
				}
			}
		}
		fmt.Fprintf(w, "  %-*s %s\n", width, name, text)
	}
}

func device(w io.Writer, d mpi.Device) {
	fmt.Fprintf(w, "\n%s", d.Name)
	if d.Node != "" {
		fmt.Fprintf(w, "  %s", d.Node)
	}
	if d.Firmware != "" {
		fmt.Fprintf(w, "  firmware %s", d.Firmware)
	}
	fmt.Fprintln(w)
	if d.Problem != nil {
		fmt.Fprintf(w, "  not usable: %s\n", indent(d.Problem, "  "))
	}
	for _, p := range d.Ports {
		fmt.Fprintf(w, "  port %d  %s  %s", p.Number, strings.ToLower(p.State), p.LinkLayer)
		if p.Rate != "" {
			fmt.Fprintf(w, "  %s", p.Rate)
		}
		if p.LID != 0 {
			fmt.Fprintf(w, "  LID %d", p.LID)
		}
		if p.MTU != 0 {
			fmt.Fprintf(w, "  MTU %d", p.MTU)
		}
		if p.Atomics != "" {
			fmt.Fprintf(w, "  atomics: %s", p.Atomics)
		}
		fmt.Fprintln(w)
		if p.Problem != nil {
			fmt.Fprintf(w, "    not usable: %s\n", indent(p.Problem, "    "))
		}
		for i, g := range p.GIDs {
			mark := " "
			if i == p.Chosen {
				mark = "*"
			}
			fmt.Fprintf(w, "  %s GID %-3d %-10s %-26s %s\n", mark, g.Index, g.Type, g.Address.Unmap(), g.Netdev)
		}
	}
}

// indent puts margin before the further lines of an error.
func indent(err error, margin string) string {
	return strings.ReplaceAll(err.Error(), "\n", "\n"+margin)
}
