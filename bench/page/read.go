package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/record"
)

// maxFile is the most that a file of results may hold, in bytes; what is longer
// is something else.
const maxFile = 16 << 20

// maxFiles bounds the files of a page.
const maxFiles = 10_000

// Results are what the files of a directory say.
type Results struct {
	sources []source

	Left []Left // files without results, by name
}

// Left is a file that was left out.
type Left struct {
	Name   string // in the directory
	Reason error
}

// ErrNoResults is returned for a directory without any.
var ErrNoResults = errors.New("no results")

// source is a file of results.
type source struct {
	name       string // in the directory, without its ending
	file       string // in the directory
	head       *record.Head
	job        *record.Job
	floor      *floor.Floor
	run        *record.Run
	tables     []*osufmt.Table // of a run or of another program
	comparison *compare.Result
}

// endings are those of files that are no results and are passed over: what
// osu-go and scripts write beside them.
var endings = []string{".svg", ".html", ".md", ".png"}

// Read reads the files of a directory, and of those in it. Hidden files, and
// files whose ending says that they are pictures or pages, are passed over. So is
// NAME.txt that osu-go compare has printed beside its document NAME.json. An error is one of the
// directory: all others are in Left.
func Read(dir fs.FS) (*Results, error) {
	r := &Results{}
	names := []string{}
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			r.leave(name, err)
			return nil
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
		case slices.Contains(endings, path.Ext(name)):
		case len(names) == maxFiles:
			return fmt.Errorf("more than %d files", maxFiles)
		default:
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		stem := strings.TrimSuffix(name, path.Ext(name))
		s, err := readFile(dir, name)
		if err != nil {
			r.leave(name, err)
			continue
		}
		s.name, s.file = stem, name
		r.sources = append(r.sources, *s)
	}
	r.dropPrinted()
	return r, nil
}

// dropPrinted drops what a comparison has printed where its document is there
// too.
func (r *Results) dropPrinted() {
	kept := map[string]bool{}
	for _, s := range r.sources {
		kept[s.name] = kept[s.name] || s.comparison != nil && s.head != nil
	}
	r.sources = slices.DeleteFunc(r.sources, func(s source) bool { return s.comparison != nil && s.head == nil && kept[s.name] })
}

func (r *Results) leave(name string, reason error) {
	var p *fs.PathError
	if errors.As(reason, &p) {
		reason = p.Err // the name is said already
	}
	r.Left = append(r.Left, Left{name, reason})
}

// Files is the number of files with results.
func (r *Results) Files() int { return len(r.sources) }

// readFile reads a file of any of the formats.
func readFile(dir fs.FS, name string) (*source, error) {
	info, err := fs.Stat(dir, name)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%d bytes: results are at most %d", info.Size(), maxFile)
	case info.Size() == 0:
		return nil, errors.New("empty: the program that was to write it has failed")
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// parse finds out which format a text has.
func parse(text []byte) (*source, error) {
	switch begin := bytes.TrimLeft(text, " \t\r\n"); {
	case bytes.HasPrefix(begin, []byte("{")):
		doc, err := record.Read(text)
		if err != nil {
			return nil, err
		}
		return documented(doc)
	case compare.IsText(text):
		c, err := compare.ParseText(text)
		if err != nil {
			return nil, err
		}
		return &source{comparison: c}, nil
	}
	t, err := osufmt.ParseAll(text)
	if err != nil {
		return nil, err
	}
	return &source{tables: t}, nil
}

// documented is the source of a document.
func documented(doc any) (*source, error) {
	switch d := doc.(type) {
	case *record.Run:
		sections, err := d.Sections()
		if err != nil {
			return nil, err
		}
		return &source{head: &d.Head, job: &d.Job, floor: d.Floor, run: d,
			tables: []*osufmt.Table{{Sections: sections}}}, nil
	case *record.Comparison:
		return &source{head: &d.Head, job: &d.Job, floor: d.Floor, comparison: d.Result}, nil
	case *record.Floor:
		return &source{head: &d.Head, floor: &d.Floor}, nil
	}
	return nil, fmt.Errorf("a document of type %T", doc)
}

// Dir is the file system of a directory, which must be one.
func Dir(name string) (fs.FS, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return os.DirFS(name), nil
}
