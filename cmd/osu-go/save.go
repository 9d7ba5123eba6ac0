package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/record"
	"github.com/weft-mpi/weft/internal/atomicfile"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// floorEnv is the environment variable by which osu-go tells its ranks the
// floor: a rank that is bound to one core can't measure it.
const floorEnv = "OSU_GO_FLOOR"

// measureFloor is the floor as JSON; nothing where it can't be measured.
func measureFloor() string {
	f, err := floor.Measure(floorTime)
	if err != nil {
		return ""
	}
	text, err := json.Marshal(f)
	if err != nil {
		return ""
	}
	return string(text)
}

// knownFloor is the floor that measureFloor has returned, here or in the process
// that has started this one.
func (s *settings) knownFloor() *floor.Floor {
	text := s.floor
	if text == "" {
		text = os.Getenv(floorEnv)
	}
	f := &floor.Floor{}
	if !s.hasFloor() || json.Unmarshal([]byte(text), f) != nil || len(f.Copies) == 0 {
		return nil
	}
	return f
}

// hasFloor reports whether the floor of a size is one of the results: with -D a size is
// not what is sent.
func (s *settings) hasFloor() bool { return s.o.Derived.Kind == bench.NotDerived }

// documents reports whether a document is wanted.
func (s *settings) documents() bool { return s.json || s.save != "" }

// both is a sink that passes all to two.
type both struct{ a, b bench.Sink }

func (s both) Title(t osufmt.Title) error { return errors.Join(s.a.Title(t), s.b.Title(t)) }
func (s both) Section(sec osufmt.Section) error {
	return errors.Join(s.a.Section(sec), s.b.Section(sec))
}
func (s both) Row(r osufmt.Row) error { return errors.Join(s.a.Row(r), s.b.Row(r)) }
func (s both) Line(l string) error    { return errors.Join(s.a.Line(l), s.b.Line(l)) }

// document makes the document of a run at rank 0, prints and keeps it. All
// ranks take part: the others call places.
func (s *settings) document(w *mpi.World, table *osufmt.Collector, stdout io.Writer) error {
	where, err := places(w.Comm())
	if err != nil {
		return err
	}
	doc := &record.Run{
		Head: documented(record.RunKind), Benchmark: s.bench.Name, Flags: s.forward, OSU: osufmt.Version,
		Floor: s.knownFloor(), Rows: table.Objects(),
		Job: record.Job{Ranks: w.Comm().Size(), Fabric: w.Fabric(), Progress: s.progress(), Places: where},
	}
	doc.First, doc.Columns = record.Columns(table.Sections())
	if s.save != "" {
		if err := save(s.save, doc, s.bench.Name, w.Fabric()); err != nil {
			return err
		}
	}
	if s.json {
		return record.Write(stdout, doc)
	}
	return nil
}

// placeSize bounds a rank's host name and cores in bytes; what is longer is cut.
const placeSize = 256

// places tells rank 0 where each rank runs. Collective.
func places(c *mpi.Comm) ([]record.Place, error) {
	mine := make([]byte, placeSize)
	host, _ := os.Hostname()
	cores, err := launch.AllowedCores()
	if err != nil {
		cores = nil
	}
	copy(mine, host+"\x00"+record.Cores(cores))
	all := make([]byte, placeSize*c.Size())
	if c.Rank() != 0 {
		all = nil
	}
	if err := mpi.Gather(c, mine, all, 0); err != nil {
		return nil, fmt.Errorf("ask the ranks for their cores: %w", err)
	}
	var where []record.Place
	for ; len(all) > 0; all = all[placeSize:] {
		host, cores, _ := strings.Cut(string(all[:placeSize]), "\x00")
		cores, _, _ = strings.Cut(cores, "\x00")
		where = append(where, record.Place{Host: host, Cores: cores})
	}
	return where, nil
}

// save keeps a document: in the file of that name if it ends in .json, else in
// a directory, in a new file named after what was measured. The file appears
// whole, by rename, and both are made if they are missing.
func save(to string, doc any, names ...string) error {
	var text bytes.Buffer
	if err := record.Write(&text, doc); err != nil {
		return err
	}
	if strings.HasSuffix(to, ".json") {
		return replace(to, text.Bytes())
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	stem := fileName(strings.Join(names, "."))
	for n := 1; ; n++ {
		name := filepath.Join(to, fmt.Sprintf("%s.%d.json", stem, n))
		// Two runs that end together take different names.
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep the result: %w", err)
		}
		f.Close()
		return replace(name, text.Bytes())
	}
}

// replace writes a file by renaming a new one.
func replace(name string, text []byte) error {
	err := atomicfile.Write(name, func(f io.Writer) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// fileName makes a name of a file: no separators, nothing hidden, not long.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_', r == '+':
			return r
		}
		return '_'
	}, s)
	return strings.TrimLeft(s[:min(len(s), 100)], ".")
}
