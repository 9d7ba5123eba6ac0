package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/page"
)

// reportName is the page's name in its directory.
const reportName = "report.html"

// runReport makes a page of the results in a directory.
func runReport(args []string, stdout, stderr io.Writer) error {
	fs := pflag.NewFlagSet("report", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	output := fs.StringP("output", "o", "", "write the page to this file (default DIR/report.html); - is stdout")
	title := fs.String("title", "", "title of the page (default: the directory's name)")
	help := fs.BoolP("help", "h", false, "print this help")
	if err := parseFlags("report", fs, args); err != nil {
		return err
	}
	switch {
	case *help:
		_, err := fmt.Fprintf(stdout, "Usage: osu-go report DIR [flags]\n"+
			"One page of the results in DIR: what --save DIR has kept, what osu-go compare has\n"+
			"printed, and output of other programs in OSU's format, as NAME.txt.\n\n%s", fs.FlagUsages())
		return err
	case fs.NArg() == 0:
		return usagef("report what? osu-go report DIR, with results that --save DIR has kept")
	case fs.NArg() > 1:
		return usagef("report takes one directory, what is %q?", fs.Arg(1))
	}
	name := fs.Arg(0)
	dir, err := page.Dir(name)
	if err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	results, err := page.Read(dir)
	if err != nil {
		return fmt.Errorf("read the results in %s: %w", name, err)
	}
	for _, l := range results.Left {
		fmt.Fprintf(stderr, "osu-go: left out: %q: %v\n", l.Name, l.Reason)
	}
	c := page.Config{Title: *title, Version: version(), Titles: map[string]string{}}
	for _, b := range bench.All() {
		c.Titles[b.Name] = b.Title
	}
	if c.Title == "" {
		c.Title = "Results in " + baseName(name)
	}
	var text bytes.Buffer
	if err := results.WriteHTML(&text, c); errors.Is(err, page.ErrNoResults) {
		return fmt.Errorf("%w in %s: osu-go latency --save %s makes some", err, name, name)
	} else if err != nil {
		return err
	}
	to := *output
	if to == "-" {
		_, err := stdout.Write(text.Bytes())
		return err
	}
	if to == "" {
		to = filepath.Join(name, reportName)
	}
	if err := replace(to, text.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d files of results, %d left out\n", to, results.Files(), len(results.Left))
	return err
}

// baseName is a directory's own name, also of one like "." or "..".
func baseName(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}
