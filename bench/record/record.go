package record

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
)

// Kind is the first field of a document.
type Kind string

// The kinds of documents.
const (
	RunKind        Kind = "run"        // of osu-go BENCH
	ComparisonKind Kind = "comparison" // of osu-go compare
	FloorKind      Kind = "floor"      // of osu-go floor
)

// Head is what every document begins with. It is a plain value.
type Head struct {
	Kind    Kind      `json:"kind"`
	When    time.Time `json:"when"`    // the end of the measurement
	Version string    `json:"version"` // of Weft
	Machine Machine   `json:"machine"`
}

// Machine describes the machine of a measurement. It is a plain value, and
// comparable.
type Machine struct {
	Host   string `json:"host"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
}

// Place says where a rank ran. It is a plain value.
type Place struct {
	Host  string `json:"host"`
	Cores string `json:"cores"` // that its process could use: "0", "0-3,8"
}

// Job says how the ranks of a measurement ran. It is a plain value.
type Job struct {
	Ranks    int     `json:"ranks"`
	Fabric   string  `json:"fabric"`
	Progress string  `json:"progress"` // thread or none
	Places   []Place `json:"places"`   // of each rank
}

// Run is the document of a benchmark.
type Run struct {
	Head
	Benchmark string           `json:"benchmark"`
	Flags     []string         `json:"flags"` // those that were given, as --name=value
	OSU       string           `json:"osu"`   // the release of OSU whose method this is
	Floor     *floor.Floor     `json:"floor,omitempty"`
	First     string           `json:"first,omitempty"` // the first column; empty: the table has one row and no sizes
	Columns   []Column         `json:"columns"`
	Rows      []map[string]any `json:"rows"` // values by the columns' keys
	Job
}

// Column is a column of a Run. It is a plain value.
type Column struct {
	Key    string `json:"key"`
	Name   string `json:"name"`   // as printed
	Better string `json:"better"` // as osufmt.Better prints it; empty: not a measurement
}

// Columns are those of a collected table: the first section's, which all have.
func Columns(sections []osufmt.Section) (first string, columns []Column) {
	if len(sections) == 0 {
		return "", []Column{}
	}
	s := sections[0]
	if !s.NoSize {
		first = s.FirstName()
	}
	for _, c := range s.Columns {
		columns = append(columns, Column{Key: c.Key, Name: c.Name, Better: c.Better.String()})
	}
	return first, columns
}

// Comparison is the document of a comparison. Job is that of our side.
type Comparison struct {
	Head
	*compare.Result
	Job
}

// Floor is the document of the machine's limits.
type Floor struct {
	Head
	Floor floor.Floor `json:"floor"`
}

// Write writes a document.
func Write(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

// Cores prints a list of cores, ascending, in short: "0-3,8".
func Cores(cores []int) string {
	var s strings.Builder
	for i := 0; i < len(cores); {
		j := i
		for j+1 < len(cores) && cores[j+1] == cores[j]+1 {
			j++
		}
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprint(&s, cores[i])
		if j > i {
			fmt.Fprintf(&s, "-%d", cores[j])
		}
		i = j + 1
	}
	return s.String()
}
